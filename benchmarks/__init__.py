"""The bars and the peers, by one command: `make bench`."""

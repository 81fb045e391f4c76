"""The headway command."""

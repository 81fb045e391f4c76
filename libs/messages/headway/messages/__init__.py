"""The wire: message models, one union, contract writer."""

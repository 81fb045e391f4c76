"""The rules of the house, held against the code as it stands."""

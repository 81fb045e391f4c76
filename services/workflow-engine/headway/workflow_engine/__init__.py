"""Advances graphs."""

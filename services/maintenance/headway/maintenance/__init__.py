"""Releases what is due, rescues, prunes."""

"""Definitions from what other schedulers keep."""

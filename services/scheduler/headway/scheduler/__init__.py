"""Decides every slot once."""

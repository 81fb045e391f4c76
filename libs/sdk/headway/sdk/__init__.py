"""What an application imports, and all of it."""

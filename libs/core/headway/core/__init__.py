"""The decisions: pure functions over rows and a now."""

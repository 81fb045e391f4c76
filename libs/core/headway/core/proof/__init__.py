"""Whether each slot that a schedule's rules name has exactly one decision."""

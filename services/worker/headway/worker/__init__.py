"""Claims runs, executes handlers, settles."""

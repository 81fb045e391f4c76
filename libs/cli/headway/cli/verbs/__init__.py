"""One module for each group of verbs; its functions read options and hand over."""

"""The verbs, a module for each group of them: functions that read options and hand over."""

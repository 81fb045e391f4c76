"""When scheduled work should not run: calendars of windows, and what becomes of a slot that lies in one.

`window` has the values, `reading` and `writing` their documents, `judge` decides, `coverage` tells whether anything is left.
"""

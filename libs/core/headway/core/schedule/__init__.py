"""When things should run: rules, and the slots they yield.

`rule` has the values and reads them, `evaluate` answers for them.  All is pure: instants in, instants out, aware and in UTC.
"""

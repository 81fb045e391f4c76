"""When things should run: rules, and the slots they yield.

`rule` holds the values, `evaluate` answers for them.  Everything here is pure: instants in, instants out, all of them aware and UTC.
"""

"""The schema's history, one file for each step; expand first, contract one release later."""

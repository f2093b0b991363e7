"""A sub-account's settings and their checks."""

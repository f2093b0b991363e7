"""Checks a broadcast's fields against each other and against the things that they name."""

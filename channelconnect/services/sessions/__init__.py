"""A connect session from start to end: the agency starts it, and its customer goes through it."""

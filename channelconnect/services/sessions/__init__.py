"""A connect session from its start to its end: what the agency starts, and what its customer does."""

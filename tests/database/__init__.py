"""The tests' databases: how they begin, are emptied and are looked at."""

"""The faults: each is brought about, seen to have happened, and counted."""

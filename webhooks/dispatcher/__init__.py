"""The dispatcher sends every due delivery to its endpoint and records each attempt."""

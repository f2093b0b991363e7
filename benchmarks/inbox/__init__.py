"""Measures how fast providers' callbacks are read, and how fast they are answered meanwhile."""

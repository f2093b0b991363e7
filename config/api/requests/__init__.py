"""Reads a request: its sender, the ids in its path, its query string and its body."""

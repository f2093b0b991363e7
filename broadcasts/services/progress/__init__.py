"""Begins, prepares and completes broadcasts, and skips the rest of cancelled ones."""

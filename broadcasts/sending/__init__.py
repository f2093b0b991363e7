"""Broadcasts' recipients as a source of the sender."""

"""Conversations' messages as a source of the sender."""

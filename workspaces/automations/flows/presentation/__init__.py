"""Flows for people to read: as a chat and as a summary."""

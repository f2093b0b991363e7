"""Flows as people read them: as a chat and as a summary."""

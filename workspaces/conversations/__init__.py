"""Conversations: the messages between a workspace and its contacts."""

"""Conversations: what networks tell of them, what workspaces do with them, and what leaves for the sender."""

"""Flows as other agencies and workspaces receive them: copied, and without what is private."""

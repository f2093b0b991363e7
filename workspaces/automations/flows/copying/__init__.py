"""Copies of flows for other agencies and workspaces, without private content."""

"""Broadcasts of an agency's sub-accounts in its console: to be read."""

"""Accounts: signing in and out, setting a password, one's own name."""

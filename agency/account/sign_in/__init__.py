"""Signing in: the password, the code, limits on attempts, and where somebody arrives."""

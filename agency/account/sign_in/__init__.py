"""Signing in: the password, the code, limits on attempts, and the landing page."""

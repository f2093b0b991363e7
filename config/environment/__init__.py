"""Reads the settings from environment variables, and refuses dangerous ones in production."""

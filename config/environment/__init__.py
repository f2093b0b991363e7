"""What the settings are read from, and what they must not be in production."""

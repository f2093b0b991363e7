"""The admin is in English."""

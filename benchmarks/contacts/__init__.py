"""Contacts by the thousand and by the million."""

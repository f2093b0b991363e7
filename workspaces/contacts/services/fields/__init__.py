"""Checks the values of a contact's fields and turns them into the form and columns in which they are stored."""

"""Contacts' identities on channels: finds and creates people, merges contacts and applies networks' changes."""

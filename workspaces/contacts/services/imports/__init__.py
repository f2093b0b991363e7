"""Contacts that come by the thousand: from a call, and from a file's pieces."""

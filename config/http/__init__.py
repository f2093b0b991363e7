"""Outbound HTTP: the guard says which addresses may be reached, and the sender posts to them.

Nothing here depends on Django or the database.
"""

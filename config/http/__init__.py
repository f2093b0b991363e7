"""Outbound HTTP: the guard that says which addresses may be reached, and the sender that posts to them.

Nothing here knows Django or the database.
"""

"""What speaks to receivers: the guard that judges a URL and the sender that posts to it.

Nothing here knows Django or the database.
"""

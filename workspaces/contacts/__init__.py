"""A workspace's contacts, and who they are on its channels."""

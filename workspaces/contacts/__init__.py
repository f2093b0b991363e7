"""A workspace's contacts and their identities on its channels."""

"""Sign-up on an agency's host, for people who have no account yet."""

"""Sign-up on an agency's own host: pages for people who have no account yet."""

"""Sign-up on an agency's own host: pages for whoever has no account yet."""

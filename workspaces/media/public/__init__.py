"""Public access to files, for anyone who has their address."""

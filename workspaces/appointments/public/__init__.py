"""The public pages on which visitors book appointments and manage them, below `/book/`."""

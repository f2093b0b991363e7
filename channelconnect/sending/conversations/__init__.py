"""Makes conversations' messages a source of the sender."""

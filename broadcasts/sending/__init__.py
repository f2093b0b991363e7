"""Makes broadcasts' recipients a source of messages for the sender."""

"""What becomes of the conversations of a contact that is merged or removed."""

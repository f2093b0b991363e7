"""Moves or removes the conversations of a contact that is merged or removed."""

"""Files of a workspace."""

"""The files of a workspace."""

"""The storages of files."""

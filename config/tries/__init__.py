"""Counts the tries of work that is begun again after a crash, before each try begins."""

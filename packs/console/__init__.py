"""Packs in the agency console."""

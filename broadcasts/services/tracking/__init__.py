"""Tracked links, and who followed them."""

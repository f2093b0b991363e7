"""Tracked links, and clicks on them."""

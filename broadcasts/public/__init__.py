"""Tracked links, which any browser may open."""

"""Filters for the templates of every page that shows money."""

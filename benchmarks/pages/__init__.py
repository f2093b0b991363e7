"""Measures the pages that people open."""

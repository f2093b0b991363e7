"""Measures the cost of broadcasts."""

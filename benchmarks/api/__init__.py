"""Measures the cost of the list of sub-accounts."""

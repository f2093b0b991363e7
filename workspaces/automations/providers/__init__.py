"""Clients of A.I. providers."""

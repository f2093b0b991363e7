"""Clients of outside networks that the agency app needs."""

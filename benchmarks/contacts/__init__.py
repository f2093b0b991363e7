"""Measures imports and lists with thousands and millions of contacts."""

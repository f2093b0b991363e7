"""Measures how fast messages leave, from their rows to the record of the provider's answer."""

"""Turns a broadcast's contacts into rows of recipients, chunk by chunk."""

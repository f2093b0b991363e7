"""Whom a broadcast goes to: its contacts become rows of recipients, chunk by chunk."""

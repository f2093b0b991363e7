"""Receivers of webhooks, each in a separate process."""

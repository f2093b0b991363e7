"""Receivers of webhooks, each in a process of its own."""

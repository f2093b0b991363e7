"""Webhooks in the customers' dashboard."""

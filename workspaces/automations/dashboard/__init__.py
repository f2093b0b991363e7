"""Automations in the customers' dashboard."""

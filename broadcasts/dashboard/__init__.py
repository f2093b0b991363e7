"""Broadcasts in the customers' dashboard."""

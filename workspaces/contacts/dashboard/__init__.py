"""Contacts in the customers' dashboard."""

"""Measures the cost of conversations: incoming messages, and statuses of outgoing ones."""

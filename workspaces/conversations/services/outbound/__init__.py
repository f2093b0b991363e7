"""Outgoing messages: checks their content, queues them and records the results of sending."""

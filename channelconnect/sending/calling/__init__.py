"""Calls the provider with claimed messages: its address, the route, and the calls in flight."""

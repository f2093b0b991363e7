"""Flows of automations: the registry of triggers and steps, and the code that needs only the registry."""

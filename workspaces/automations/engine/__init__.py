"""Runs automations: takes due contacts in batches, decides about their facts, and writes what follows."""

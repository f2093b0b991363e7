"""The inbox in a real browser."""

"""The sender: it sends each due message to its provider at most once, and records the result."""

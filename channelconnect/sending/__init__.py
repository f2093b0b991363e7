"""The sender: gives every message that is due to its provider, at most once, and records what came of it."""

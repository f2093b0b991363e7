"""Files in the customers' dashboard."""

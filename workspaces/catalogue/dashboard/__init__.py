"""Products in the customers' dashboard."""

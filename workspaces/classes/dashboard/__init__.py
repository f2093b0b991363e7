"""Classes in the customers' dashboard."""

"""The inbox in the customers' dashboard."""

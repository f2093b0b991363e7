"""Products and services in the customers' dashboard."""

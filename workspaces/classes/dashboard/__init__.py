"""Staff and group classes in the customers' dashboard."""

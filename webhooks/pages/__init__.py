"""Pages about webhooks, shared by the agency console and the customers' dashboard."""

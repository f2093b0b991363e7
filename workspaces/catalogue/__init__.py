"""A workspace's products with their stock, its services, and their categories."""

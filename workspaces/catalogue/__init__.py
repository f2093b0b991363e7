"""What a workspace sells: products with their stock, services and their categories."""

"""The pages about products, services and their categories."""

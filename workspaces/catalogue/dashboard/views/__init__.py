"""The dashboard's pages about products, services and their categories."""

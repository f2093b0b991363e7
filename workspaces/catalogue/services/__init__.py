"""What can be done with products and services."""

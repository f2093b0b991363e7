"""Tables of products and services."""

"""Services of broadcasts."""

"""What broadcasts add elsewhere."""

"""What contacts add elsewhere."""

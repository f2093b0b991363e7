"""What conversations add elsewhere."""

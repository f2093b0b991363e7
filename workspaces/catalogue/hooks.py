"""What the catalogue adds elsewhere."""

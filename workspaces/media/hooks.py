"""What media add elsewhere."""

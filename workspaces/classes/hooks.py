"""What group classes add elsewhere."""

"""What templates of pages may use."""

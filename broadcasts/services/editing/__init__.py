"""What an author writes: checked, kept, changed, tried out."""

"""What is forgotten when, and where in a table it begins."""

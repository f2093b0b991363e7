"""What is told of broadcasts and of their recipients."""

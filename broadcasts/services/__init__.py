"""What can be done with broadcasts."""

"""What can be done with staff and group classes."""

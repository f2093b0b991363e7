"""What can be done with media."""

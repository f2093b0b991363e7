"""What broadcasts cost."""

"""What the list of sub-accounts costs."""

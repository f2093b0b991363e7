"""What packs add to the agency console."""

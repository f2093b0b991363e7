"""What conversations show on pages that are not their own."""

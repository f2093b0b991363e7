"""What anybody's browser may open: tracked links."""

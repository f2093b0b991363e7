"""What anybody's browser may fetch: an agency's looks, as files that never change."""

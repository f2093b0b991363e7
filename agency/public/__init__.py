"""Files that anybody's browser may fetch: an agency's brand, at addresses whose content never changes."""

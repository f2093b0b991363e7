"""The agency's console: pages for its staff. Higher apps add their own pages to it."""

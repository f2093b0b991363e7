"""The agency's console: pages for its staff, to which higher apps add their own."""

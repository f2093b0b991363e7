"""The agency's console: pages for its staff. Higher apps hang their own pages into it."""

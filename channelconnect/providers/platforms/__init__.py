"""The client of each platform, and the registry that finds them."""

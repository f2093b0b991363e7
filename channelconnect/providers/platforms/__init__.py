"""The client of each platform, and which one a channel has."""

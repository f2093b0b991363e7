"""Jobs, which people ask for and which run in the background: what all of them share, and the order of their turns."""

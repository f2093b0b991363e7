"""The customers' dashboard, below `/app/`: its frame, and the pages about what a workspace itself owns."""

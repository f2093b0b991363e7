"""The customers' dashboard below `/app/`: its frame, and the pages about the workspace itself."""

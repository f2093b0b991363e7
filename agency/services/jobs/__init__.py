"""Work that people have asked for and that goes on without them: what all of it has in common, and whose turn it is."""

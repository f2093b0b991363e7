"""Lists as files: begun in the console, written piece by piece, fetched while they are kept."""

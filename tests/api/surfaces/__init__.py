"""Two small surfaces, one of each order of checks, for proving what both real ones stand on."""

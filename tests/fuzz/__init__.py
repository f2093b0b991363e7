"""What the published documents promise, held against requests that nobody would think of."""

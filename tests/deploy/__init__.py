"""What lies in `deploy/`, held against the product: commands, limits, metrics."""

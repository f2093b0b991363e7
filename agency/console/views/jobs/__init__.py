"""Pages of background jobs: bulk operations and exports."""

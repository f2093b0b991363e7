"""Pages of what goes on in the background: bulk operations and exports."""

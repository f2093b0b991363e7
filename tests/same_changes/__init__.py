"""What people change on pages and programs by the APIs leaves the same behind, and meets the same limits."""

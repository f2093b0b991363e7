"""Workspaces, which agencies call sub-accounts: their owners, keys, plans, add-ons, limits and channels."""

"""A customer's workspace, which an agency calls a sub-account: its owner, keys, plan, add-ons, limits and channels."""

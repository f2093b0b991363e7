"""The pages about sub-accounts."""

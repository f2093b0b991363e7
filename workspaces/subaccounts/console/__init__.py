"""Sub-accounts in the agency's console."""

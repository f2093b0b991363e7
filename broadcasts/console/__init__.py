"""The console's read-only pages about broadcasts of an agency's sub-accounts."""

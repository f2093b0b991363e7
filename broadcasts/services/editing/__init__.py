"""Creates, checks, changes and tests the broadcasts that authors write."""

"""Bulk operations: begun in the console, done one object at a time with the services that the API calls."""

"""Bulk operations: begun in the console, done one thing at a time with the services that the API calls."""

"""The console's pages, by what they are about."""

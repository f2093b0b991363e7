"""The dashboard's pages."""

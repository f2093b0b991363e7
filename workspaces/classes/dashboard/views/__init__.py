"""The dashboard's pages about staff and group classes."""

"""The dashboard's pages about broadcasts."""

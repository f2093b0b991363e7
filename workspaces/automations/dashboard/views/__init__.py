"""The dashboard's pages about automations and their prerequisites."""

"""Code that the console, the dashboard and the public pages about sub-accounts share."""

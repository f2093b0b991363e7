"""What the console's, the dashboard's and the public pages about sub-accounts share."""

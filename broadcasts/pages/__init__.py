"""Code that the dashboard's and the console's pages about broadcasts share."""

"""The same change of many things: begun in the console, done one by one with the services that the API calls."""

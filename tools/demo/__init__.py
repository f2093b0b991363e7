"""Shows the main jobs over HTTP: signed events of changed sub-accounts, then appointments and payments."""

"""Shows the main job over HTTP: it provisions and changes sub-accounts and receives every signed event."""

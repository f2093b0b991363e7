"""Pages about webhooks, for the staff of an agency and for its customers alike."""

"""How people get in: signing in and out, and setting a password."""

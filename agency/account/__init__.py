"""Account pages: signing in and out, invitations, passwords, profile, two-factor and sessions."""

"""Models of people: users, invitations, sign-ups, sessions and two-factor."""

"""The people of an agency's console: members, invitations, sign-ins and passwords."""

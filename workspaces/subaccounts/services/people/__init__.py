"""The people of a sub-account: owners, members, invitations, sign-ups, and agency staff who open it as customer."""

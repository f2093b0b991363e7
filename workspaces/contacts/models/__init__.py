"""Tables of contacts and segments."""

from workspaces.contacts.models.contacts import Contact, ContactIdentity

__all__ = ["Contact", "ContactIdentity"]

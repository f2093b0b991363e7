"""The support admin's pages about agencies; every change goes through the services."""

from agency.admin import agencies, events, invitations, members, records, switches, users

__all__ = ["agencies", "events", "invitations", "members", "records", "switches", "users"]

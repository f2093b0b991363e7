"""The support admin's pages about agencies; every change goes through the services."""

from agency.admin import agencies, domains, events, invitations, mail, members, records, switches, users

__all__ = ["agencies", "domains", "events", "invitations", "mail", "members", "records", "switches", "users"]

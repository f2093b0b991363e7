"""The support admin's pages about agencies; every change goes through the services."""

from agency.admin import agencies, events, members, records, switches, users

__all__ = ["agencies", "events", "members", "records", "switches", "users"]

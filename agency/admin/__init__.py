"""The support admin's pages about agencies; every change goes through the services."""

from agency.admin import activity, agencies, catalogue, events, keys, members, switches, users

__all__ = ["activity", "agencies", "catalogue", "events", "keys", "members", "switches", "users"]

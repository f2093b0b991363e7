"""The support admin's pages about agencies; every change goes through the services."""

from agency.admin import agencies, members, records, users

__all__ = ["agencies", "members", "records", "users"]

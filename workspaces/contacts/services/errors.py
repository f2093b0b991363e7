"""Errors about contacts and segments that several services raise."""

from config.errors import NotFound


class ContactNotFound(NotFound):
    message = "Contact not found."


class SegmentNotFound(NotFound):
    message = "Segment not found."

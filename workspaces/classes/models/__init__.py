"""Models of staff and group classes."""

from workspaces.classes.models.sessions import ClassSession, Participant
from workspaces.classes.models.staff import Staff

__all__ = ["ClassSession", "Participant", "Staff"]

"""Strict fields of a write: JSON types are taken at their word, texts must be seen and stored."""

from config.api.fields.lists import Items
from config.api.fields.marks import Choice, Flag, Uuid
from config.api.fields.texts import Email, Opaque, Text, Zone

__all__ = ["Choice", "Email", "Flag", "Items", "Opaque", "Text", "Uuid", "Zone"]

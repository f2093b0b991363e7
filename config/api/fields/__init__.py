"""Serializer fields. They convert no JSON type to another, take only visible, storable texts, and all have examples."""

from config.api.fields.files import UploadField
from config.api.fields.lists import ListField
from config.api.fields.metadata import MetadataField
from config.api.fields.texts import CharField, EmailField, NetworkField, OpaqueField, TimezoneField
from config.api.fields.values import (
    BooleanField,
    ChoiceField,
    DateTimeField,
    DecimalField,
    DictField,
    FloatField,
    IntegerField,
    URLField,
    UUIDField,
)

__all__ = [
    "BooleanField",
    "CharField",
    "ChoiceField",
    "DateTimeField",
    "DecimalField",
    "DictField",
    "EmailField",
    "FloatField",
    "IntegerField",
    "ListField",
    "MetadataField",
    "NetworkField",
    "OpaqueField",
    "TimezoneField",
    "URLField",
    "UUIDField",
    "UploadField",
]

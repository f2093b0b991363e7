"""A contact's fields as callers pass them, and the columns that store them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from django.db import IntegrityError

from config.db import violated_constraint
from config.errors import InvalidInput
from workspaces.contacts.models import Contact
from workspaces.contacts.models.contacts import email_key, search_key
from workspaces.contacts.services.fields.phones import Phone
from workspaces.contacts.services.fields.tags import tag_key
from workspaces.contacts.services.fields.values import CHECKS

FIELDS = ("name", "phone", "email", "tags", "timezone", "country", "attributes")

SEARCHED = frozenset({"name", "phone", "email"})


class ContactValues(TypedDict, total=False):
    """The values of a contact that a caller may pass. A missing key changes nothing; None and "" empty a field."""

    name: str | None
    phone: str | None
    email: str | None
    tags: list[str]
    timezone: str | None
    country: str | None
    attributes: Mapping[str, str]
    opted_out: bool


@dataclass(slots=True)
class ContactColumns:
    """A contact's columns for imports. Making a thousand model instances would take longer than all other work."""

    id: int | None = None
    name: str = ""
    phone: str | None = None
    email: str | None = None
    email_key: str | None = None
    country: str | None = None
    timezone: str | None = None
    tags: list[str] = field(default_factory=list)
    tag_keys: list[str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    search_key: str = ""
    opted_out_at: datetime | None = None
    opt_out_source: str | None = None
    consent_told_at: datetime | None = None

    @property
    def opted_out(self) -> bool:
        return self.opted_out_at is not None


class PhoneTaken(InvalidInput):
    field = "phone"
    message = "Another contact has this phone number."


class EmailTaken(InvalidInput):
    field = "email"
    message = "Another contact has this e-mail address."


TAKEN = {"contact_phone_once_per_workspace": PhoneTaken, "contact_email_once_per_workspace": EmailTaken}
EMPTY: Mapping[str, Any] = {
    "name": "",
    "phone": "",
    "email": "",
    "tags": [],
    "timezone": "",
    "country": "",
    "attributes": {},
    "opted_out": False,
}


def taken_error(constraint: str) -> InvalidInput | None:
    """Return the error for a violated unique constraint, or None for another constraint."""
    error = TAKEN.get(constraint)
    return error() if error else None


def checked_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields in the form in which they are stored. Raises `ValueRefused` for the first invalid one."""
    return {name: CHECKS[name](EMPTY[name] if value is None else value) for name, value in values.items()}


def apply_values(contact: Contact | ContactColumns, checked: Mapping[str, Any]) -> None:
    """Set checked fields and the columns derived from them. A phone number fills an empty country and time zone."""
    for name, value in checked.items():
        if name == "phone":
            contact.phone = value.number if value else None
        elif name in FIELDS:
            setattr(contact, name, value)
    if checked.get("phone"):
        _guess_place(contact, checked["phone"])
    if "email" in checked:
        contact.email_key = email_key(contact.email) if contact.email else None
    if "tags" in checked:
        contact.tag_keys = [tag_key(tag) for tag in contact.tags]
    if not SEARCHED.isdisjoint(checked):
        contact.search_key = search_key(contact.name, contact.phone, contact.email)


def _guess_place(contact: Contact | ContactColumns, phone: Phone) -> None:
    contact.country = contact.country or phone.country
    if contact.country == phone.country:
        contact.timezone = contact.timezone or phone.timezone


def save_contact(contact: Contact, **options: Any) -> None:
    """Save a contact. Raises `PhoneTaken` or `EmailTaken`, after which the caller's transaction cannot go on."""
    try:
        contact.save(**options)
    except IntegrityError as error:
        refusal = taken_error(violated_constraint(error))
        raise refusal or error from error

"""A contact's fields as callers pass them, the columns that store them, and statements for many contacts at once.

Workers may find and create the same people at the same time. Unique constraints decide which worker is first:
(channel, external_id), (channel, user_id) and a workspace's phone numbers. Rows are inserted in the order of these
keys, so two workers with the same people wait for each other once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, TypedDict

import orjson
from django.db import IntegrityError, connection
from django.db.backends.utils import CursorWrapper

from config.db import violated_constraint
from config.errors import InvalidInput
from workspaces.contacts.models import Contact
from workspaces.contacts.models.contacts import email_key, search_key
from workspaces.contacts.services.fields import CHECKS, Phone, tag_key
from workspaces.subaccounts.models import Workspace

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
class ContactRow:
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
EMPTY: Mapping[str, object] = {
    "name": "",
    "phone": "",
    "email": "",
    "tags": [],
    "timezone": "",
    "country": "",
    "attributes": {},
    "opted_out": False,
}


def unique_violation_error(constraint: str) -> InvalidInput | None:
    """Return the error for a violated unique constraint, or None for another constraint."""
    error = TAKEN.get(constraint)
    return error() if error else None


def checked_values(values: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields in the form in which they are stored. Raises `ValueRefused` for the first invalid one."""
    return {name: CHECKS[name](EMPTY[name] if value is None else value) for name, value in values.items()}


def apply_values(contact: Contact | ContactRow, checked: Mapping[str, Any]) -> None:
    """Set checked fields and the columns derived from them. A phone number fills an empty country and time zone."""
    for name, value in checked.items():
        if name == "phone":
            contact.phone = value.number if value else None
        elif name in FIELDS:
            setattr(contact, name, value)
    if checked.get("phone"):
        _guess_country_and_timezone(contact, checked["phone"])
    if "email" in checked:
        contact.email_key = email_key(contact.email) if contact.email else None
    if "tags" in checked:
        contact.tag_keys = [tag_key(tag) for tag in contact.tags]
    if not SEARCHED.isdisjoint(checked):
        contact.search_key = search_key(contact.name, contact.phone, contact.email)


def _guess_country_and_timezone(contact: Contact | ContactRow, phone: Phone) -> None:
    contact.country = contact.country or phone.country
    if contact.country == phone.country:
        contact.timezone = contact.timezone or phone.timezone


def save_contact(contact: Contact, *, force_insert: bool = False) -> None:
    """Save a contact. Raises `PhoneTaken` or `EmailTaken`, after which the caller's transaction cannot go on."""
    try:
        contact.save(force_insert=force_insert)
    except IntegrityError as error:
        refusal = unique_violation_error(violated_constraint(error))
        raise refusal or error from error


# A contact's addresses: its phone number and its `email_key`.
Address = tuple[str | None, str | None]

TYPES = {
    "tags": "varchar[]",
    "tag_keys": "text[]",
    "attributes": "jsonb",
    "opted_out_at": "timestamptz",
    "consent_told_at": "timestamptz",
}
COLUMNS = [column.name for column in fields(ContactRow) if column.name != "id"]
NAMES = ", ".join(COLUMNS)
TYPED = ", ".join(f"{name} {TYPES.get(name, 'text')}" for name in COLUMNS)
RECORDSET = f"json_to_recordset(%(rows)s::json) AS row (id bigint, {TYPED})"
LOCK_BY_ADDRESS = f"""
SELECT id, {NAMES} FROM contacts_contact
WHERE workspace_id = %(workspace)s
    AND (phone = ANY (%(phones)s::varchar[]) OR email_key = ANY (%(emails)s::varchar[]))
ORDER BY id FOR NO KEY UPDATE
"""  # noqa: S608  # names of our own
INSERT_CONTACTS = f"""
INSERT INTO contacts_contact (uuid, workspace_id, created_at, updated_at, {NAMES})
SELECT gen_random_uuid(), %(workspace)s, %(now)s, %(now)s, {NAMES} FROM {RECORDSET}
RETURNING id, phone, email_key
"""  # noqa: S608  # names of our own
# Runs before `UPDATE_CONTACTS`, so that an address can move from one of these contacts to another.
CLEAR_ADDRESSES = """
UPDATE contacts_contact SET phone = NULL, email = NULL, email_key = NULL
WHERE workspace_id = %(workspace)s AND id = ANY (%(contacts)s::bigint[])
"""
UPDATE_CONTACTS = f"""
UPDATE contacts_contact SET updated_at = %(now)s, {", ".join(f"{name} = row.{name}" for name in COLUMNS)}
FROM {RECORDSET} WHERE contacts_contact.id = row.id
"""  # noqa: S608  # names of our own


def lock_contacts_with(workspace: Workspace, *, phones: Sequence[str], email_keys: Sequence[str]) -> list[ContactRow]:
    """Lock and return the contacts that have any of these addresses, in the order of their primary keys."""
    with connection.cursor() as cursor:  # two arrays, not thousands of parameters
        cursor.execute(LOCK_BY_ADDRESS, {"workspace": workspace.pk, "phones": list(phones), "emails": list(email_keys)})
        found = [ContactRow(*row) for row in cursor.fetchall()]
    for one in found:
        if isinstance(one.attributes, str):  # a raw cursor returns JSON as text
            one.attributes = orjson.loads(one.attributes)
    return found


def insert_contacts(workspace: Workspace, contacts: Iterable[ContactRow], *, now: datetime) -> dict[Address, int]:
    """Create contacts and return each one's primary key by its addresses."""
    with connection.cursor() as cursor:
        _execute(cursor, INSERT_CONTACTS, workspace, contacts, now)
        return {(phone, key): number for number, phone, key in cursor.fetchall()}


def clear_addresses(workspace: Workspace, contacts: Sequence[int]) -> None:
    """Empty the addresses of locked contacts, which the caller writes next."""
    with connection.cursor() as cursor:
        cursor.execute(CLEAR_ADDRESSES, {"workspace": workspace.pk, "contacts": list(contacts)})


def write_contacts(workspace: Workspace, contacts: Iterable[ContactRow], *, now: datetime) -> None:
    """Write the changes of locked contacts."""
    with connection.cursor() as cursor:
        _execute(cursor, UPDATE_CONTACTS, workspace, contacts, now)


def _execute(
    cursor: CursorWrapper, statement: str, workspace: Workspace, contacts: Iterable[ContactRow], now: datetime
) -> None:
    rows = orjson.dumps(list(contacts)).decode()
    cursor.execute(statement, {"rows": rows, "workspace": workspace.pk, "now": now})


ASKED = """
    SELECT * FROM unnest(%(channels)s::bigint[], %(workspaces)s::bigint[], %(external_ids)s::text[],
        %(user_ids)s::text[], %(phones)s::text[]) WITH ORDINALITY
    AS asked (channel_id, workspace_id, external_id, user_id, phone, number)
"""

# For each person, in the given order: the identities by either id and their contact. If that contact has no phone
# number and the network reports one, also the contact with this number.
FIND_PEOPLE = f"""
WITH asked AS ({ASKED})
SELECT asked.number - 1 AS number, by_external.id AS external_identity, by_user.id AS user_identity,
    by_external.contact_id AS external_contact, by_user.contact_id AS user_contact,
    by_external.user_id AS known_user_id, by_user.external_id AS known_external_id,
    coalesce(by_external.name, by_user.name) AS known_name,
    coalesce(by_external.username, by_user.username) AS known_username,
    contact.name AS contact_name, contact.phone AS contact_phone, contact.email AS contact_email,
    by_phone.id AS phone_contact
FROM asked
LEFT JOIN contacts_contactidentity AS by_external
    ON by_external.channel_id = asked.channel_id AND by_external.external_id = asked.external_id
LEFT JOIN contacts_contactidentity AS by_user
    ON by_user.channel_id = asked.channel_id AND by_user.user_id = asked.user_id
LEFT JOIN contacts_contact AS contact ON contact.id = coalesce(by_external.contact_id, by_user.contact_id)
LEFT JOIN contacts_contact AS by_phone ON by_phone.workspace_id = asked.workspace_id
    AND by_phone.phone = asked.phone AND contact.phone IS NULL
ORDER BY asked.number
"""  # noqa: S608  # parts of our own

# The contact is inserted with its platform, so that the trigger `contact_platforms_are_kept` has nothing to write.
_NEW = """
    SELECT asked.*, channel.platform FROM unnest(%(channels)s::bigint[], %(workspaces)s::bigint[],
        %(external_ids)s::text[], %(user_ids)s::text[], %(phones)s::text[], %(names)s::text[], %(usernames)s::text[],
        %(countries)s::text[], %(timezones)s::text[], %(search_keys)s::text[], %(inbound_times)s::timestamptz[],
        %(reported_times)s::timestamptz[])
    AS asked (channel_id, workspace_id, external_id, user_id, phone, name, username, country, timezone, search_key,
        inbound_at, reported_at)
    JOIN subaccounts_channel AS channel ON channel.id = asked.channel_id
"""
_CONTACT = """
    INSERT INTO contacts_contact (id, uuid, workspace_id, name, phone, country, timezone, tags, platforms, search_key,
        last_inbound_at, created_at, updated_at)
"""
_VALUES = """
    gen_random_uuid(), workspace_id, name, phone, country, timezone, '{}', ARRAY[platform], search_key, inbound_at,
    %(now)s, %(now)s
"""
_IDENTITY = """
    INSERT INTO contacts_contactidentity (contact_id, workspace_id, channel_id, external_id, user_id, username, name,
        ids_told_at, created_at)
"""

# Both statements return the new contacts, each with its inserted identity, or NULL if another worker inserted that
# identity first. A phone number that the workspace has already belongs to its contact; xmax = 0 marks a new row.
CREATE_BY_PHONE = f"""
WITH asked AS ({_NEW}), made AS (
    {_CONTACT}
    SELECT nextval('contacts_contact_id_seq'), {_VALUES}
    FROM (SELECT DISTINCT ON (workspace_id, phone) * FROM asked ORDER BY workspace_id, phone) AS each
    ON CONFLICT (workspace_id, phone) WHERE phone IS NOT NULL DO UPDATE SET phone = excluded.phone
    RETURNING id, workspace_id, phone, xmax = 0 AS is_new
), known AS (
    {_IDENTITY}
    SELECT made.id, made.workspace_id, channel_id, external_id, user_id, username, name, reported_at, %(now)s
    FROM asked JOIN made ON made.workspace_id = asked.workspace_id AND made.phone = asked.phone
    ORDER BY channel_id, external_id, user_id
    ON CONFLICT DO NOTHING
    RETURNING contact_id, channel_id, external_id, user_id
)
SELECT made.id AS contact, known.channel_id, known.external_id, known.user_id
FROM made LEFT JOIN known ON known.contact_id = made.id WHERE made.is_new
"""  # noqa: S608  # parts of our own

# The identity is inserted first, and only the worker that inserted it creates the contact. The foreign key is checked
# at the commit.
CREATE_BY_ID = f"""
WITH asked AS MATERIALIZED (SELECT nextval('contacts_contact_id_seq') AS contact_id, each.* FROM ({_NEW}) AS each),
known AS (
    {_IDENTITY}
    SELECT contact_id, workspace_id, channel_id, external_id, user_id, username, name, reported_at, %(now)s
    FROM asked ORDER BY channel_id, external_id, user_id
    ON CONFLICT DO NOTHING
    RETURNING contact_id, channel_id, external_id, user_id
), made AS (
    {_CONTACT}
    SELECT contact_id, {_VALUES} FROM asked WHERE contact_id IN (SELECT contact_id FROM known)
)
SELECT contact_id AS contact, channel_id, external_id, user_id FROM known
"""  # noqa: S608  # parts of our own

# The latest report counts; an empty text reports nothing. An id replaces another one only if it was reported later, by
# the network's time.
UPDATE_IDENTITIES = """
UPDATE contacts_contactidentity AS identity
SET external_id = CASE WHEN identity.ids_told_at > told.at THEN coalesce(identity.external_id, told.external_id)
        ELSE coalesce(told.external_id, identity.external_id) END,
    user_id = CASE WHEN identity.ids_told_at > told.at THEN coalesce(identity.user_id, told.user_id)
        ELSE coalesce(told.user_id, identity.user_id) END,
    ids_told_at = CASE WHEN told.external_id <> identity.external_id OR told.user_id <> identity.user_id
        THEN greatest(identity.ids_told_at, told.at) ELSE identity.ids_told_at END,
    name = coalesce(nullif(told.name, ''), identity.name),
    username = coalesce(nullif(told.username, ''), identity.username)
FROM unnest(%(identities)s::bigint[], %(external_ids)s::text[], %(user_ids)s::text[], %(names)s::text[],
    %(usernames)s::text[], %(times)s::timestamptz[]) AS told (id, external_id, user_id, name, username, at)
WHERE identity.id = told.id
"""

# Only empty columns are filled, so that changes by others stay.
FILL_CONTACTS = """
UPDATE contacts_contact AS contact
SET name = CASE WHEN contact.name = '' THEN told.name ELSE contact.name END,
    phone = coalesce(contact.phone, told.phone), country = coalesce(contact.country, told.country),
    timezone = coalesce(contact.timezone, told.timezone), search_key = told.search_key, updated_at = %(now)s
FROM unnest(%(contacts)s::bigint[], %(names)s::text[], %(phones)s::text[], %(countries)s::text[],
    %(timezones)s::text[], %(search_keys)s::text[], %(old_keys)s::text[])
    AS told (id, name, phone, country, timezone, search_key, old_key)
WHERE contact.id = told.id AND contact.search_key = told.old_key
"""

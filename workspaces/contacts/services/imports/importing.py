"""Contacts taken in by the thousand: made or changed by phone, else by e-mail, in a few statements."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

import orjson
from django.db import IntegrityError, connection, transaction

from agency import limits
from agency.services import subscribed_events
from config.db import violated_constraint
from config.errors import Conflict, Invalid
from workspaces.contacts import events
from workspaces.contacts.models import Contact
from workspaces.contacts.models.contacts import MOST_ATTRIBUTES, MOST_TAGS
from workspaces.contacts.services.counting import count_contacts
from workspaces.contacts.services.events import NamedEvent, change_events, contact_reading, record_import, record_wanted
from workspaces.contacts.services.fields.columns import EmailTaken, apply_values, taken_error
from workspaces.contacts.services.fields.tags import joined_tags
from workspaces.contacts.services.fields.values import ValueRefused
from workspaces.contacts.services.imports.rows import ImportResult, Row, read_rows
from workspaces.contacts.services.opt_outs import opt_out_events, write_opt_out
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import LimitReached, lock_workspace

Source = Contact.OptOutSource
MOST_ROWS = 1_000
MOST_TRIES = 3
COLUMNS = {
    "uuid": "uuid",
    "name": "varchar",
    "phone": "varchar",
    "email": "varchar",
    "email_key": "varchar",
    "country": "varchar",
    "timezone": "varchar",
    "tags": "varchar[]",
    "tag_keys": "text[]",
    "attributes": "jsonb",
    "search_key": "text",
    "opted_out_at": "timestamptz",
    "opt_out_source": "varchar",
}
NAMES = ", ".join(COLUMNS)
TYPED = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
ROWS = f"json_to_recordset(%(rows)s::json) AS row (id bigint, {TYPED})"
KNOWN = """
SELECT id FROM contacts_contact
WHERE workspace_id = %(workspace)s
    AND (phone = ANY (%(phones)s::varchar[]) OR email_key = ANY (%(emails)s::varchar[]))
"""
# Whoever has made one of them meanwhile keeps it: those rows are looked for again.
INSERT = f"""
INSERT INTO contacts_contact (workspace_id, created_at, updated_at, {NAMES})
SELECT %(workspace)s, %(now)s, %(now)s, {NAMES} FROM {ROWS}
ON CONFLICT DO NOTHING RETURNING uuid
"""  # noqa: S608  # names of our own
CHANGED = [name for name in COLUMNS if name != "uuid"]
UPDATE = f"""
UPDATE contacts_contact SET updated_at = %(now)s, {", ".join(f"{name} = row.{name}" for name in CHANGED)}
FROM {ROWS} WHERE contacts_contact.id = row.id
"""  # noqa: S608  # names of our own


def import_contacts(
    *, workspace: Workspace, rows: Sequence[Any], now: datetime, source: Source = Source.IMPORT
) -> ImportResult:
    """Make or change a contact for each row: found by its phone number, else by its e-mail address.

    What a row fills takes the place of what was there; tags and attributes are added to those there; an empty field
    changes nothing, and nobody is opted in again. Rows that cannot be taken, also for the plan's limit, are in the
    result with the reasons; the others are taken.
    """
    for _ in range(MOST_TRIES):
        try:
            return _import(workspace, rows, source, now)
        except IntegrityError as error:
            if not taken_error(violated_constraint(error)):
                raise  # else somebody has just given one of the addresses to another contact: it is found now
    raise AddressesKeepChanging


@transaction.atomic
def _import(workspace: Workspace, rows: Sequence[Any], source: Source, now: datetime) -> ImportResult:
    result = ImportResult()
    waiting = read_rows(rows, result)
    locked = lock_workspace(workspace)
    wanted = subscribed_events([workspace.pk]).get(workspace.pk, set())
    while waiting:
        waiting = _Batch(locked, source, now, result, wanted).take(waiting)
    result.errors.sort(key=lambda error: error.index)
    return result


@transaction.atomic
def import_contacts_of_a_call(*, workspace: Workspace, rows: Sequence[Any], now: datetime) -> ImportResult:
    """Take in the contacts of one call of the API, whose end is told."""
    result = import_contacts(workspace=workspace, rows=rows, now=now)
    record_import(workspace, origin="api", filename=None, counts=result.counts, now=now)
    return result


class AddressesKeepChanging(Conflict):
    message = "These contacts are being changed by somebody else. Send them again."


class _Batch:
    """One look at what is there, and what is written because of it."""

    def __init__(
        self, workspace: Workspace, source: Source, now: datetime, result: ImportResult, wanted: Collection[str]
    ) -> None:
        self.workspace, self.source, self.now, self.result, self.wanted = workspace, source, now, result, wanted
        self.told: list[NamedEvent] = []

    def take(self, rows: Sequence[Row]) -> list[Row]:
        """Take rows in; gives those whose contact somebody else has made meanwhile."""
        known = self._known(rows)
        found = list(self._matched(rows, known))
        self._change([(row, contact) for row, contact in found if contact])
        missed = self._make([row for row, contact in found if contact is None])
        record_wanted(self.workspace, self.told, self.wanted, now=self.now)
        return missed

    def _known(self, rows: Iterable[Row]) -> dict[str, Contact]:
        """Lock and give the contacts that have any of the rows' addresses, by these."""
        phones = [row.phone for row in rows if row.phone]
        emails = [row.email_key for row in rows if row.email_key]
        known: dict[str, Contact] = {}
        with connection.cursor() as cursor:  # an array each, not thousands of parameters
            cursor.execute(KNOWN, {"workspace": self.workspace.pk, "phones": phones, "emails": emails})
            there = [pk for (pk,) in cursor.fetchall()]
        own = Contact.objects.filter(pk__in=there)
        if self.wanted:
            own = own.with_channels()
        for contact in own.order_by("pk").select_for_update(no_key=True):
            known |= {address: contact for address in (contact.phone, contact.email_key) if address}
        return known

    def _match(self, row: Row, known: Mapping[str, Contact]) -> Contact | None:
        """Give a row's contact. Raises `EmailTaken` where its addresses are two contacts'."""
        by_phone, by_email = known.get(row.phone or ""), known.get(row.email_key or "")
        if by_email and row.phone and (by_phone or by_email).phone not in (None, row.phone):
            raise EmailTaken
        if by_phone and by_email and by_phone is not by_email:
            raise EmailTaken
        return by_phone or by_email

    def _matched(self, rows: Iterable[Row], known: Mapping[str, Contact]) -> Iterator[tuple[Row, Contact | None]]:
        for row in rows:
            try:
                yield row, self._match(row, known)
            except EmailTaken as refused:
                self._refuse(row, refused)

    def _change(self, found: Sequence[tuple[Row, Contact]]) -> None:
        changed = {}
        for row, contact in found:
            before, was_out = contact_reading(contact), contact.opted_out
            if self._apply(row, contact):
                told = [*change_events(contact, before), *opt_out_events(contact, was_out)]
                self.told += told
                if told:
                    changed[contact.pk] = contact
        if changed:
            self._run(UPDATE, changed.values())

    def _make(self, rows: Sequence[Row]) -> list[Row]:
        """Make contacts, as many as the plan has room for; gives the rows for which somebody else was faster."""
        if not rows:
            return []
        room = self._room()
        taken = rows if room is None else rows[:room]
        for row in rows[len(taken) :]:
            allowed = limits.value(self.workspace.limits, "contacts") or 0
            self._refuse(row, LimitReached("contacts", allowed))
        made = {}
        for row in taken:
            contact = Contact(uuid=uuid4(), workspace=self.workspace, created_at=self.now, updated_at=self.now)
            contact.known_as = []
            if self._apply(row, contact, is_new=True):
                made[contact.uuid] = (row, contact)
        written = self._run(INSERT, [contact for _, contact in made.values()]) if made else set()
        missed = []
        for uuid, (row, contact) in made.items():
            if uuid in written:
                self.told.append((events.CONTACT_CREATED, {"contact": contact}))
            else:
                self._take_back(row, is_new=True)
                missed.append(row)
        return missed

    def _room(self) -> int | None:
        allowed = limits.value(self.workspace.limits, "contacts")
        return None if allowed is None else max(0, allowed - count_contacts(self.workspace))

    def _apply(self, row: Row, contact: Contact, *, is_new: bool = False) -> bool:
        """Write a row and its repeats into a contact; says whether any was taken."""
        try:
            for each in (row, *row.repeats):
                self._apply_one(each, contact)
        except Invalid as refused:
            self._refuse(row, refused)
            return False
        self.result.created += is_new
        self.result.updated += len(row.repeats) + (not is_new)
        return True

    def _take_back(self, row: Row, *, is_new: bool) -> None:
        self.result.created -= is_new
        self.result.updated -= len(row.repeats)

    def _apply_one(self, row: Row, contact: Contact) -> None:
        values = dict(row.values)
        if "tags" in values:
            values["tags"] = joined_tags(contact.tags, values["tags"])
            _require_at_most(len(values["tags"]), MOST_TAGS, "tags", "tags")
        if "attributes" in values:
            values["attributes"] = {**contact.attributes, **values["attributes"]}
            _require_at_most(len(values["attributes"]), MOST_ATTRIBUTES, "attributes", "attributes")
        apply_values(contact, values)
        if values.get("opted_out"):
            write_opt_out(contact, True, source=self.source, now=self.now)

    def _refuse(self, row: Row, error: Invalid) -> None:
        for each in (row, *row.repeats):
            self.result.refuse(each, error)

    def _run(self, statement: str, contacts: Iterable[Contact]) -> set[Any]:
        rows = orjson.dumps([{"id": one.pk, **{name: getattr(one, name) for name in COLUMNS}} for one in contacts])
        values: dict[str, Any] = {"rows": rows.decode(), "workspace": self.workspace.pk, "now": self.now}
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            return {uuid for (uuid,) in cursor.fetchall()} if cursor.description else set()


def _require_at_most(number: int, most: int, name: str, words: str) -> None:
    if number > most:
        raise ValueRefused(f"A contact may have at most {most} {words}.", field=name)

"""Imports many contacts in a few statements. Each row is matched by phone number, else by e-mail address."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.functional import cached_property

from agency import limits
from agency.actors import Actor
from agency.services import subscribed_events
from config.db import violated_constraint
from config.errors import Conflict, InvalidInput
from workspaces.contacts.models import Contact
from workspaces.contacts.models.contacts import MOST_ATTRIBUTES, MOST_TAGS, email_key
from workspaces.contacts.services import events
from workspaces.contacts.services.contact_rows import (
    ContactRow,
    EmailTaken,
    apply_values,
    clear_addresses,
    insert_contacts,
    lock_contacts_with,
    unique_violation_error,
    write_contacts,
)
from workspaces.contacts.services.counting import count_contacts
from workspaces.contacts.services.events import NamedEvent, change_events, contact_reading, record_import, record_wanted
from workspaces.contacts.services.fields import CHECKS, ValueRefused, added_tags, joined_tags
from workspaces.contacts.services.opt_outs import opt_out_events, write_opt_out
from workspaces.contacts.services.tag_handlers import AddedTags, tell_tags_added
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import LimitReached, lock_workspace, record_workspace_activity

Errors = dict[str, list[str]]
NO_ADDRESS = {"phone": ["A row needs a phone number or an e-mail address."]}
NO_OBJECT = {"contacts": ["Each entry of the contacts field must be an object."]}


@dataclass(slots=True)
class Row:
    """A valid row: its values in the form in which they are stored, and its index."""

    index: int
    values: dict[str, Any]
    phone: str | None
    email_key: str | None


@dataclass(frozen=True, slots=True)
class RowError:
    """The reasons why a row was refused."""

    index: int
    errors: Errors


@dataclass(slots=True)
class ImportResult:
    """The counts and errors of imported rows."""

    created: int = 0
    updated: int = 0
    errors: list[RowError] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {"created": self.created, "updated": self.updated, "refused": len(self.errors)}

    def refuse(self, row: Row, error: InvalidInput) -> None:
        self.errors.append(RowError(row.index, error.errors))


def read_rows(rows: Sequence[Any], result: ImportResult) -> list[Row]:
    """Return the valid rows. Add the errors of the others to the result."""
    read = (_read(index, given, result) for index, given in enumerate(rows))
    return [row for row in read if row is not None]


def _read(index: int, given: Any, result: ImportResult) -> Row | None:
    if not isinstance(given, Mapping):
        result.errors.append(RowError(index, NO_OBJECT))
        return None
    values, errors = checked_row(given)
    phone, email = values.get("phone"), values.get("email")
    if not (phone or email or errors):
        errors = NO_ADDRESS
    if errors:
        result.errors.append(RowError(index, errors))
        return None
    return Row(index, values, phone.number if phone else None, email_key(email) if email else None)


def checked_row(given: Mapping[str, Any]) -> tuple[dict[str, Any], Errors]:
    """Return a row's checked values and errors. Unknown and empty fields are ignored."""
    values: dict[str, Any] = {}
    errors: Errors = {}
    for name, check in CHECKS.items():
        value = given.get(name)
        if value is None:
            continue
        try:
            checked = check(value)
        except InvalidInput as refused:
            errors |= refused.errors
        else:
            if checked:
                values[name] = checked
    return values, errors


Source = Contact.OptOutSource
MOST_ROWS = 1_000
# Another transaction may take one of the addresses meanwhile. Then the import starts again.
MOST_TRIES = 10


def import_contacts(
    *, workspace: Workspace, rows: Sequence[Any], now: datetime, source: Source = Source.IMPORT
) -> ImportResult:
    """Create or change a contact for each row, matched by its phone number, else by its e-mail address.

    Rows are applied in their order, each as if it were an import alone. A filled field replaces the contact's value;
    tags and attributes are added; an empty field changes nothing. No row opts a contact in again. The result lists the
    refused rows with their reasons, also those beyond the plan's limit. All other rows are imported.
    """
    for _ in range(MOST_TRIES):
        try:
            return _import(workspace, rows, source, now)
        except IntegrityError as error:
            if not unique_violation_error(violated_constraint(error)):
                raise  # otherwise another contact has just got one of the addresses; the next try finds it
    raise ConcurrentImport


@transaction.atomic
def _import(workspace: Workspace, rows: Sequence[Any], source: Source, now: datetime) -> ImportResult:
    result = ImportResult()
    read = read_rows(rows, result)
    if read:
        locked = lock_workspace(workspace)
        wanted = subscribed_events([workspace.pk]).get(workspace.pk, set())
        _Batch(locked, source, now, result, wanted).apply(read)
    result.errors.sort(key=lambda error: error.index)
    return result


@transaction.atomic
def import_contacts_of_a_call(*, workspace: Workspace, rows: Sequence[Any], now: datetime, by: Actor) -> ImportResult:
    """Import the contacts of one API call. Record the event of a completed import, and one entry for all rows."""
    result = import_contacts(workspace=workspace, rows=rows, now=now)
    record_import(workspace, origin="api", filename=None, counts=result.counts, now=now)
    record_workspace_activity(workspace=workspace, action="contact.imported", by=by, details={**result.counts})
    return result


class ConcurrentImport(Conflict):
    message = "These contacts are being changed by somebody else. Send them again."


@dataclass(slots=True)
class _AffectedContact:
    """A contact that rows change, with its state before the first of them. `before` is None for a new contact."""

    contact: ContactRow
    before: Mapping[str, Any] | None = None
    addresses: tuple[str | None, ...] = ()
    was_out: bool = False
    consent_told_at: datetime | None = None

    @property
    def left(self) -> set[str]:
        """The addresses that the contact had and no longer has."""
        return {address for address in self.addresses if address} - {self.contact.phone, self.contact.email_key}


class _Batch:
    """Loads the contacts of a batch of rows, applies the rows one by one and writes all changes at the end."""

    def __init__(
        self, workspace: Workspace, source: Source, now: datetime, result: ImportResult, wanted: Collection[str]
    ) -> None:
        self.workspace, self.source, self.now, self.result, self.wanted = workspace, source, now, result, wanted
        self.known: dict[str, ContactRow] = {}
        self.affected: list[_AffectedContact] = []
        self.affected_ids: set[int] = set()
        self.made: list[ContactRow] = []
        self.events: list[tuple[ContactRow, NamedEvent]] = []

    def apply(self, rows: Sequence[Row]) -> None:
        """Apply the rows one after the other, each to the state that the earlier rows left, then write the changes."""
        self.known = self._find(rows)
        for row in rows:
            try:
                self._apply_row(row)
            except InvalidInput as refused:
                self.result.refuse(row, refused)
        self._write()
        self._record_events()
        added = [AddedTags(one.contact.id or 0, self._tags_added(one)) for one in self.affected]
        tell_tags_added(self.workspace, added, now=self.now)

    def _tags_added(self, one: _AffectedContact) -> list[str]:
        return added_tags(one.before["tags"] if one.before else (), one.contact.tags)

    def _find(self, rows: Iterable[Row]) -> dict[str, ContactRow]:
        """Lock the contacts that have any of the rows' addresses, and return them by address."""
        phones = [row.phone for row in rows if row.phone]
        emails = [row.email_key for row in rows if row.email_key]
        there = lock_contacts_with(self.workspace, phones=phones, email_keys=emails)
        return {address: contact for contact in there for address in (contact.phone, contact.email_key) if address}

    def _apply_row(self, row: Row) -> None:
        """Apply a row to its contact in memory, wholly or not at all. Raises the reason of a refusal."""
        found = self._match(row)
        values = self._values(row, found) if found else row.values
        if found:
            self._remember(found)
        elif self.room is not None and len(self.made) >= self.room:
            raise LimitReached("contacts", limits.value(self.workspace.limits, "contacts") or 0)
        contact = found or self._make()
        before = (contact.phone, contact.email_key)
        apply_values(contact, values)
        if values.get("opted_out"):
            write_opt_out(contact, True, source=self.source, now=self.now)
        self._update_addresses(contact, before)
        self.result.updated += found is not None
        self.result.created += found is None

    def _match(self, row: Row) -> ContactRow | None:
        """Find a row's contact by phone number, else by e-mail. Raises `EmailTaken` if two contacts match."""
        by_phone, by_email = self.known.get(row.phone or ""), self.known.get(row.email_key or "")
        if by_phone and by_email and by_phone is not by_email:
            raise EmailTaken
        return by_phone or by_email

    def _values(self, row: Row, contact: ContactRow) -> Mapping[str, Any]:
        """Return a row's values joined with the contact's tags and attributes. Raises `ValueRefused` for too many."""
        values = row.values
        if contact.tags and "tags" in values:
            values = {**values, "tags": joined_tags(contact.tags, values["tags"])}
            _require_at_most(len(values["tags"]), MOST_TAGS, "tags", "tags")
        if contact.attributes and "attributes" in values:
            values = {**values, "attributes": {**contact.attributes, **values["attributes"]}}
            _require_at_most(len(values["attributes"]), MOST_ATTRIBUTES, "attributes", "attributes")
        return values

    @cached_property
    def room(self) -> int | None:
        """The number of new contacts that the plan allows, or None without a limit."""
        allowed = limits.value(self.workspace.limits, "contacts")
        return None if allowed is None else max(0, allowed - count_contacts(self.workspace))

    def _make(self) -> ContactRow:
        made = ContactRow()
        self.made.append(made)
        self.affected.append(_AffectedContact(made))
        return made

    def _remember(self, contact: ContactRow) -> None:
        """Remember a contact's state before the first row that changes it."""
        if contact.id is None or contact.id in self.affected_ids:
            return
        self.affected_ids.add(contact.id)
        addresses = (contact.phone, contact.email_key)
        told_at = contact.consent_told_at
        self.affected.append(_AffectedContact(contact, contact_reading(contact), addresses, contact.opted_out, told_at))

    def _update_addresses(self, contact: ContactRow, before: tuple[str | None, ...]) -> None:
        """Update `known`, so that later rows find the contact by its new addresses only."""
        now = (contact.phone, contact.email_key)
        for address in before:
            if address and address not in now:
                del self.known[address]
        self.known |= {address: contact for address in now if address}

    def _write(self) -> None:
        changed = []
        for one in self.affected:
            named_events = list(self._events(one))
            self.events += [(one.contact, event) for event in named_events]
            if one.before is not None and (named_events or one.contact.consent_told_at != one.consent_told_at):
                changed.append(one)
        if changed:
            self._clear_what_others_get(changed)
            write_contacts(self.workspace, [one.contact for one in changed], now=self.now)
        if self.made:
            numbers = insert_contacts(self.workspace, self.made, now=self.now)
            for contact in self.made:
                contact.id = numbers[contact.phone, contact.email_key]

    def _clear_what_others_get(self, changed: Sequence[_AffectedContact]) -> None:
        """Free addresses that move between contacts, because the UPDATE may write the receiving contact first."""
        given = {address for one in changed for address in (one.contact.phone, one.contact.email_key) if address}
        freed = [one.contact.id for one in changed if one.contact.id and not given.isdisjoint(one.left)]
        if freed:
            clear_addresses(self.workspace, freed)

    def _events(self, one: _AffectedContact) -> Iterator[NamedEvent]:
        """Yield a contact's events: its creation, or the changes of all rows together."""
        if one.before is None:
            yield events.CONTACT_CREATED, {}
        else:
            yield from change_events(one.contact, one.before)
            yield from opt_out_events(one.contact, one.was_out)

    def _record_events(self) -> None:
        """Record the events with subscriptions. They carry the contacts' final state."""
        wanted = [(contact.id or 0, name, data) for contact, (name, data) in self.events if name in self.wanted]
        if wanted:
            rows = Contact.objects.filter(pk__in={number for number, _, _ in wanted}).with_channels().in_bulk()
            some = [(name, {**data, "contact": rows[number]}) for number, name, data in wanted]
            record_wanted(self.workspace, some, self.wanted, now=self.now)


def _require_at_most(number: int, most: int, name: str, words: str) -> None:
    if number > most:
        raise ValueRefused(f"A contact may have at most {most} {words}.", field=name)

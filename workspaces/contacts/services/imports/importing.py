"""Imports many contacts in a few statements. Each row is matched by phone number, else by e-mail address."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.functional import cached_property

from agency import limits
from agency.services import subscribed_events
from config.db import violated_constraint
from config.errors import Conflict, InvalidInput
from workspaces.contacts import events
from workspaces.contacts.models import Contact
from workspaces.contacts.models.contacts import MOST_ATTRIBUTES, MOST_TAGS
from workspaces.contacts.services.counting import count_contacts
from workspaces.contacts.services.events import NamedEvent, change_events, contact_reading, record_import, record_wanted
from workspaces.contacts.services.fields.columns import ContactColumns, EmailTaken, apply_values, taken_error
from workspaces.contacts.services.fields.tags import joined_tags
from workspaces.contacts.services.fields.values import ValueRefused
from workspaces.contacts.services.imports.contact_rows import (
    clear_addresses,
    insert_contacts,
    lock_contacts_with,
    write_contacts,
)
from workspaces.contacts.services.imports.rows import ImportResult, Row, read_rows
from workspaces.contacts.services.opt_outs import opt_out_events, write_opt_out
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import LimitReached, lock_workspace

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
            if not taken_error(violated_constraint(error)):
                raise  # otherwise another contact has just got one of the addresses; the next try finds it
    raise AddressesKeepChanging


@transaction.atomic
def _import(workspace: Workspace, rows: Sequence[Any], source: Source, now: datetime) -> ImportResult:
    result = ImportResult()
    read = read_rows(rows, result)
    if read:
        locked = lock_workspace(workspace)
        wanted = subscribed_events([workspace.pk]).get(workspace.pk, set())
        _Batch(locked, source, now, result, wanted).take(read)
    result.errors.sort(key=lambda error: error.index)
    return result


@transaction.atomic
def import_contacts_of_a_call(*, workspace: Workspace, rows: Sequence[Any], now: datetime) -> ImportResult:
    """Import the contacts of one API call and record the event of a completed import."""
    result = import_contacts(workspace=workspace, rows=rows, now=now)
    record_import(workspace, origin="api", filename=None, counts=result.counts, now=now)
    return result


class AddressesKeepChanging(Conflict):
    message = "These contacts are being changed by somebody else. Send them again."


@dataclass(slots=True)
class _Touched:
    """A contact that rows change, with its state before the first of them. `before` is None for a new contact."""

    contact: ContactColumns
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
        self.known: dict[str, ContactColumns] = {}
        self.touched: list[_Touched] = []
        self.touched_ids: set[int] = set()
        self.made: list[ContactColumns] = []
        self.told: list[tuple[ContactColumns, NamedEvent]] = []

    def take(self, rows: Sequence[Row]) -> None:
        """Apply the rows one after the other, each to the state that the earlier rows left, then write the changes."""
        self.known = self._find(rows)
        for row in rows:
            try:
                self._take_one(row)
            except InvalidInput as refused:
                self.result.refuse(row, refused)
        self._write()
        self._tell()

    def _find(self, rows: Iterable[Row]) -> dict[str, ContactColumns]:
        """Lock the contacts that have any of the rows' addresses, and return them by address."""
        phones = [row.phone for row in rows if row.phone]
        emails = [row.email_key for row in rows if row.email_key]
        there = lock_contacts_with(self.workspace, phones=phones, email_keys=emails)
        return {address: contact for contact in there for address in (contact.phone, contact.email_key) if address}

    def _take_one(self, row: Row) -> None:
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
        self._follow_addresses(contact, before)
        self.result.updated += found is not None
        self.result.created += found is None

    def _match(self, row: Row) -> ContactColumns | None:
        """Find a row's contact by phone number, else by e-mail. Raises `EmailTaken` if two contacts match."""
        by_phone, by_email = self.known.get(row.phone or ""), self.known.get(row.email_key or "")
        if by_phone and by_email and by_phone is not by_email:
            raise EmailTaken
        return by_phone or by_email

    def _values(self, row: Row, contact: ContactColumns) -> Mapping[str, Any]:
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

    def _make(self) -> ContactColumns:
        made = ContactColumns()
        self.made.append(made)
        self.touched.append(_Touched(made))
        return made

    def _remember(self, contact: ContactColumns) -> None:
        """Remember a contact's state before the first row that changes it."""
        if contact.id is None or contact.id in self.touched_ids:
            return
        self.touched_ids.add(contact.id)
        addresses = (contact.phone, contact.email_key)
        told_at = contact.consent_told_at
        self.touched.append(_Touched(contact, contact_reading(contact), addresses, contact.opted_out, told_at))

    def _follow_addresses(self, contact: ContactColumns, before: tuple[str | None, ...]) -> None:
        """Update `known`, so that later rows find the contact by its new addresses only."""
        now = (contact.phone, contact.email_key)
        for address in before:
            if address and address not in now:
                del self.known[address]
        self.known |= {address: contact for address in now if address}

    def _write(self) -> None:
        changed = []
        for one in self.touched:
            told = list(self._events(one))
            self.told += [(one.contact, event) for event in told]
            if one.before is not None and (told or one.contact.consent_told_at != one.consent_told_at):
                changed.append(one)
        if changed:
            self._clear_what_others_get(changed)
            write_contacts(self.workspace, [one.contact for one in changed], now=self.now)
        if self.made:
            numbers = insert_contacts(self.workspace, self.made, now=self.now)
            for contact in self.made:
                contact.id = numbers[contact.phone, contact.email_key]

    def _clear_what_others_get(self, changed: Sequence[_Touched]) -> None:
        """Free addresses that move between contacts, because the UPDATE may write the receiving contact first."""
        given = {address for one in changed for address in (one.contact.phone, one.contact.email_key) if address}
        freed = [one.contact.id for one in changed if one.contact.id and not given.isdisjoint(one.left)]
        if freed:
            clear_addresses(self.workspace, freed)

    def _events(self, one: _Touched) -> Iterator[NamedEvent]:
        """Yield a contact's events: its creation, or the changes of all rows together."""
        if one.before is None:
            yield events.CONTACT_CREATED, {}
        else:
            yield from change_events(one.contact, one.before)
            yield from opt_out_events(one.contact, one.was_out)

    def _tell(self) -> None:
        """Record the events with subscriptions. They carry the contacts' final state."""
        told = [(contact.id or 0, name, data) for contact, (name, data) in self.told if name in self.wanted]
        if told:
            rows = Contact.objects.filter(pk__in={number for number, _, _ in told}).with_channels().in_bulk()
            some = [(name, {**data, "contact": rows[number]}) for number, name, data in told]
            record_wanted(self.workspace, some, self.wanted, now=self.now)


def _require_at_most(number: int, most: int, name: str, words: str) -> None:
    if number > most:
        raise ValueRefused(f"A contact may have at most {most} {words}.", field=name)

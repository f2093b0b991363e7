"""Contacts taken in by the thousand: made or changed by phone, else by e-mail, in a few statements."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.functional import cached_property

from agency import limits
from agency.services import subscribed_events
from config.db import violated_constraint
from config.errors import Conflict, Invalid
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
# A person who writes for the first time meanwhile may take an address. Then the import is judged again.
MOST_TRIES = 10


def import_contacts(
    *, workspace: Workspace, rows: Sequence[Any], now: datetime, source: Source = Source.IMPORT
) -> ImportResult:
    """Make or change a contact for each row: found by its phone number, else by its e-mail address.

    Rows are judged in their order, each as if it came in an import of its own. What a row fills takes the place of
    what was there; tags and attributes are added to those there; an empty field changes nothing, and nobody is opted
    in again. Rows that cannot be taken, also for the plan's limit, are in the result with the reasons; the others are
    taken.
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
    read = read_rows(rows, result)
    if read:
        locked = lock_workspace(workspace)
        wanted = subscribed_events([workspace.pk]).get(workspace.pk, set())
        _Batch(locked, source, now, result, wanted).take(read)
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


@dataclass(slots=True)
class _Touched:
    """A contact of some row, and what it was before the first of them; nothing where a row makes it."""

    contact: ContactColumns
    before: Mapping[str, Any] | None = None
    addresses: tuple[str | None, ...] = ()
    was_out: bool = False
    consent_told_at: datetime | None = None

    @property
    def left(self) -> set[str]:
        """The addresses that it had and has no more."""
        return {address for address in self.addresses if address} - {self.contact.phone, self.contact.email_key}


class _Batch:
    """What is there of some rows' contacts, and what becomes of it row by row; written at the end, a statement each."""

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
        """Judge rows one after the other, each by what those before it have left, and write what has become of it."""
        self.known = self._find(rows)
        for row in rows:
            try:
                self._take_one(row)
            except Invalid as refused:
                self.result.refuse(row, refused)
        self._write()
        self._tell()

    def _find(self, rows: Iterable[Row]) -> dict[str, ContactColumns]:
        """Lock and give the contacts that have any of the rows' addresses, by these."""
        phones = [row.phone for row in rows if row.phone]
        emails = [row.email_key for row in rows if row.email_key]
        there = lock_contacts_with(self.workspace, phones=phones, email_keys=emails)
        return {address: contact for contact in there for address in (contact.phone, contact.email_key) if address}

    def _take_one(self, row: Row) -> None:
        """Write a row into its contact, all or nothing. Raises why not."""
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
        """Give a row's contact: by its number, else by its e-mail. Raises `EmailTaken` where that is another's."""
        by_phone, by_email = self.known.get(row.phone or ""), self.known.get(row.email_key or "")
        if by_phone and by_email and by_phone is not by_email:
            raise EmailTaken
        return by_phone or by_email

    def _values(self, row: Row, contact: ContactColumns) -> Mapping[str, Any]:
        """Give a row's values with what is there of tags and attributes. Raises `ValueRefused` for too many."""
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
        """How many new contacts the plan has room for; None for any number."""
        allowed = limits.value(self.workspace.limits, "contacts")
        return None if allowed is None else max(0, allowed - count_contacts(self.workspace))

    def _make(self) -> ContactColumns:
        made = ContactColumns()
        self.made.append(made)
        self.touched.append(_Touched(made))
        return made

    def _remember(self, contact: ContactColumns) -> None:
        """Keep what a contact was before the first row that changes it."""
        if contact.id is None or contact.id in self.touched_ids:
            return
        self.touched_ids.add(contact.id)
        addresses = (contact.phone, contact.email_key)
        told_at = contact.consent_told_at
        self.touched.append(_Touched(contact, contact_reading(contact), addresses, contact.opted_out, told_at))

    def _follow_addresses(self, contact: ContactColumns, before: tuple[str | None, ...]) -> None:
        """Have the next rows find a contact by what it has now, and by nothing that it had."""
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
        """Free addresses that go from one contact to another, as the statement may write the other one first."""
        given = {address for one in changed for address in (one.contact.phone, one.contact.email_key) if address}
        freed = [one.contact.id for one in changed if one.contact.id and not given.isdisjoint(one.left)]
        if freed:
            clear_addresses(self.workspace, freed)

    def _events(self, one: _Touched) -> Iterator[NamedEvent]:
        """Give what is told of a contact: that it is new, or what all rows together have changed."""
        if one.before is None:
            yield events.CONTACT_CREATED, {}
        else:
            yield from change_events(one.contact, one.before)
            yield from opt_out_events(one.contact, one.was_out)

    def _tell(self) -> None:
        """Record what somebody wants to know, with the contacts as they have become."""
        told = [(contact.id or 0, name, data) for contact, (name, data) in self.told if name in self.wanted]
        if told:
            rows = Contact.objects.filter(pk__in={number for number, _, _ in told}).with_channels().in_bulk()
            some = [(name, {**data, "contact": rows[number]}) for number, name, data in told]
            record_wanted(self.workspace, some, self.wanted, now=self.now)


def _require_at_most(number: int, most: int, name: str, words: str) -> None:
    if number > most:
        raise ValueRefused(f"A contact may have at most {most} {words}.", field=name)

"""Contacts taken in by the thousand: made or changed by phone, else by e-mail, in a few statements."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

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
from workspaces.contacts.services.imports.contact_rows import insert_contacts, lock_contacts_with, write_contacts
from workspaces.contacts.services.imports.rows import ImportResult, Row, read_rows
from workspaces.contacts.services.opt_outs import opt_out_events, write_opt_out
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import LimitReached, lock_workspace

Source = Contact.OptOutSource
MOST_ROWS = 1_000
MOST_TRIES = 3
NAMES = tuple(column.name for column in fields(ContactColumns))


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
        self.told: list[tuple[int | None, NamedEvent]] = []

    def take(self, rows: Sequence[Row]) -> list[Row]:
        """Take rows in; gives those whose contact somebody else has made meanwhile."""
        known = self._known(rows)
        found = list(self._matched(rows, known))
        self._change([(row, contact) for row, contact in found if contact])
        missed = self._make([row for row, contact in found if contact is None])
        self._tell()
        return missed

    def _known(self, rows: Iterable[Row]) -> dict[str, ContactColumns]:
        """Lock and give the contacts that have any of the rows' addresses, by these."""
        phones = [row.phone for row in rows if row.phone]
        emails = [row.email_key for row in rows if row.email_key]
        there = lock_contacts_with(self.workspace, phones=phones, email_keys=emails)
        return {address: contact for contact in there for address in (contact.phone, contact.email_key) if address}

    def _match(self, row: Row, known: Mapping[str, ContactColumns]) -> ContactColumns | None:
        """Give a row's contact. Raises `EmailTaken` where its addresses are two contacts'."""
        by_phone, by_email = known.get(row.phone or ""), known.get(row.email_key or "")
        if by_email and row.phone and (by_phone or by_email).phone not in (None, row.phone):
            raise EmailTaken
        if by_phone and by_email and by_phone is not by_email:
            raise EmailTaken
        return by_phone or by_email

    def _matched(
        self, rows: Iterable[Row], known: Mapping[str, ContactColumns]
    ) -> Iterator[tuple[Row, ContactColumns | None]]:
        for row in rows:
            try:
                yield row, self._match(row, known) if known else None
            except EmailTaken as refused:
                self._refuse(row, refused)

    def _change(self, found: Sequence[tuple[Row, ContactColumns]]) -> None:
        changed = {}
        for row, contact in found:
            before, was_out, consent_told_at = contact_reading(contact), contact.opted_out, contact.consent_told_at
            if self._apply(row, contact):
                told = [*change_events(contact, before), *opt_out_events(contact, was_out)]
                self.told += [(contact.id, one) for one in told]
                if told or contact.consent_told_at != consent_told_at:
                    changed[contact.id] = contact
        if changed:
            write_contacts(self.workspace, changed.values(), now=self.now)

    def _make(self, rows: Sequence[Row]) -> list[Row]:
        """Make contacts, as many as the plan has room for; gives the rows for which somebody else was faster."""
        if not rows:
            return []
        room = self._room()
        taken = rows if room is None else rows[:room]
        for row in rows[len(taken) :]:
            allowed = limits.value(self.workspace.limits, "contacts") or 0
            self._refuse(row, LimitReached("contacts", allowed))
        made = []
        for row in taken:
            contact = ContactColumns()
            if self._apply(row, contact, is_new=True):
                made.append((row, contact))
        written = insert_contacts(self.workspace, [contact for _, contact in made], now=self.now) if made else {}
        self.told += [(number, (events.CONTACT_CREATED, {})) for number in written.values()]
        missed = [row for row, contact in made if (contact.phone, contact.email_key) not in written]
        for row in missed:
            self._take_back(row, is_new=True)
        return missed

    def _room(self) -> int | None:
        allowed = limits.value(self.workspace.limits, "contacts")
        return None if allowed is None else max(0, allowed - count_contacts(self.workspace))

    def _apply(self, row: Row, contact: ContactColumns, *, is_new: bool = False) -> bool:
        """Write a row and its repeats into a contact, all or none; says whether they were taken."""
        changed = replace(contact)  # another row may still change the contact itself
        try:
            for each in (row, *row.repeats):
                self._apply_one(each, changed)
        except Invalid as refused:
            self._refuse(row, refused)
            return False
        for name in NAMES:
            setattr(contact, name, getattr(changed, name))
        self.result.created += is_new
        self.result.updated += len(row.repeats) + (not is_new)
        return True

    def _take_back(self, row: Row, *, is_new: bool) -> None:
        self.result.created -= is_new
        self.result.updated -= len(row.repeats)

    def _apply_one(self, row: Row, contact: ContactColumns) -> None:
        values = row.values
        if contact.tags and "tags" in values:
            values = {**values, "tags": joined_tags(contact.tags, values["tags"])}
            _require_at_most(len(values["tags"]), MOST_TAGS, "tags", "tags")
        if contact.attributes and "attributes" in values:
            values = {**values, "attributes": {**contact.attributes, **values["attributes"]}}
            _require_at_most(len(values["attributes"]), MOST_ATTRIBUTES, "attributes", "attributes")
        apply_values(contact, values)
        if values.get("opted_out"):
            write_opt_out(contact, True, source=self.source, now=self.now)

    def _refuse(self, row: Row, error: Invalid) -> None:
        for each in (row, *row.repeats):
            self.result.refuse(each, error)

    def _tell(self) -> None:
        """Record what somebody wants to know, with the contacts as they have become."""
        told = [(number, name, data) for number, (name, data) in self.told if name in self.wanted]
        if told:
            rows = Contact.objects.filter(pk__in={number for number, _, _ in told}).with_channels().in_bulk()
            some = [(name, {**data, "contact": rows[number or 0]}) for number, name, data in told]
            record_wanted(self.workspace, some, self.wanted, now=self.now)


def _require_at_most(number: int, most: int, name: str, words: str) -> None:
    if number > most:
        raise ValueRefused(f"A contact may have at most {most} {words}.", field=name)

"""Opts contacts out and in, of everything or of marketing, one or many at once. Records the source of an opt-out."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from agency.services import NewEvent, record_events, subscribed_events
from config.postgresql.arrays import booleans, integers, texts, timestamps
from workspaces.contacts.models import Contact
from workspaces.contacts.services import events
from workspaces.contacts.services.contact_rows import ContactRow
from workspaces.contacts.services.events import NamedEvent
from workspaces.subaccounts.services import tenant_of

Source = Contact.OptOutSource


def opt_out_contact(*, contact: Contact, source: Source, now: datetime) -> Contact:
    """Opt a contact out. If it has opted out already, nothing changes and no event is recorded."""
    opt_out_contacts(contacts=[contact.pk], source=source, now=now)
    contact.refresh_from_db()
    return contact


def opt_in_contact(*, contact: Contact, now: datetime) -> Contact:
    """Opt a contact in again. If it has not opted out, nothing changes and no event is recorded."""
    opt_in_contacts(contacts=[contact.pk], now=now)
    contact.refresh_from_db()
    return contact


@transaction.atomic(savepoint=False)
def opt_out_contacts(*, contacts: Collection[int], source: Source, now: datetime) -> frozenset[int]:
    """Opt contacts out as the workspace's staff want. Takes primary keys; returns those that had not opted out."""
    statements = [ConsentStatement(contact, now, source, is_by_staff=True) for contact in contacts]
    return apply_consent_statements(statements=statements, now=now).opted_out


@transaction.atomic(savepoint=False)
def opt_in_contacts(*, contacts: Collection[int], now: datetime) -> frozenset[int]:
    """Opt contacts in again as the workspace's staff want. Takes primary keys; returns those that had opted out."""
    statements = [ConsentStatement(contact, now, is_by_staff=True) for contact in contacts]
    return apply_consent_statements(statements=statements, now=now).opted_in


class ConsentStatement(NamedTuple):
    """A statement at a moment that a contact opts out (with a `source`) or opts in (without one).

    A statement from a network counts only if it is newer than the contact's last one, whenever it is read. A statement
    of the workspace's staff always counts.
    """

    contact: int
    at: datetime
    source: str = ""
    is_by_staff: bool = False


class ConsentChanges(NamedTuple):
    """The primary keys of the contacts that were opted out and in."""

    opted_out: frozenset[int]
    opted_in: frozenset[int]


@transaction.atomic(savepoint=False)
def apply_consent_statements(*, statements: Iterable[ConsentStatement], now: datetime) -> ConsentChanges:
    """Opt contacts out and in by the last statement about each. At equal times the opt-out counts.

    This takes two or three SQL statements for any number of contacts.
    """
    last: dict[int, ConsentStatement] = {}
    for statement in sorted(statements, key=lambda one: (one.at, bool(one.source))):
        last[statement.contact] = statement
    if not last:
        return ConsentChanges(frozenset(), frozenset())
    rows = _write(last.values(), now)
    out = {pk: workspace for pk, workspace, was_out, is_out in rows if is_out and not was_out}
    back = {pk: workspace for pk, workspace, was_out, is_out in rows if was_out and not is_out}
    _record(out, events.CONTACT_OPTED_OUT, now)
    _record(back, events.CONTACT_OPTED_IN, now)
    return ConsentChanges(frozenset(out), frozenset(back))


# A statement's time is stored even if it changes nothing, so that an older one that is read later is ignored. Without a
# stored time, `opted_out_at` counts.
UPDATE_CONSENT = """
UPDATE contacts_contact contact
SET consent_told_at = greatest(contact.consent_told_at, statement.at),
    opted_out_at = CASE WHEN statement.source <> '' THEN coalesce(contact.opted_out_at, %(now)s) END,
    opt_out_source = CASE WHEN statement.source <> '' THEN coalesce(contact.opt_out_source, statement.source) END,
    updated_at = CASE WHEN statement.was_out = (statement.source <> '') THEN contact.updated_at ELSE %(now)s END
FROM (
    SELECT contact.id, statement.at, statement.source, contact.opted_out_at IS NOT NULL AS was_out
    FROM unnest(%(contacts)s::bigint[], %(times)s::timestamptz[], %(sources)s::text[], %(by_staff)s::boolean[])
        AS statement (id, at, source, by_staff)
    JOIN contacts_contact contact USING (id)
    WHERE statement.by_staff OR coalesce(contact.consent_told_at, contact.opted_out_at) IS NULL
        OR statement.at > coalesce(contact.consent_told_at, contact.opted_out_at)
        OR (statement.source <> '' AND statement.at = coalesce(contact.consent_told_at, contact.opted_out_at))
    ORDER BY contact.id FOR NO KEY UPDATE OF contact
) AS statement
WHERE contact.id = statement.id
RETURNING contact.id, contact.workspace_id, statement.was_out, statement.source <> ''
"""


def _write(statements: Collection[ConsentStatement], now: datetime) -> list[tuple[int, int, bool, bool]]:
    values: dict[str, datetime | str] = {
        "now": now,
        "contacts": integers([statement.contact for statement in statements]),
        "times": timestamps([statement.at for statement in statements]),
        "sources": texts([statement.source for statement in statements]),
        "by_staff": booleans([statement.is_by_staff for statement in statements]),
    }
    with connection.cursor() as cursor:
        cursor.execute(UPDATE_CONSENT, values)
        rows: list[tuple[int, int, bool, bool]] = cursor.fetchall()
    return rows


def _record(workspace_of: Mapping[int, int], event: str, now: datetime) -> None:
    if not workspace_of:
        return
    wanted = {pk for pk, names in subscribed_events(set(workspace_of.values())).items() if event in names}
    if not wanted:
        return
    rows = Contact.objects.filter(pk__in=workspace_of, workspace__in=wanted).select_related("workspace")
    record_events(
        NewEvent(tenant=tenant_of(row.workspace), name=event, data={"contact": row}, occurred_at=now)
        for row in rows.with_channels().order_by("pk")
    )


def write_opt_out(contact: Contact | ContactRow, is_out: bool, *, source: Source, now: datetime) -> bool:
    """Set a contact's opt-out as staff want it, without saving. The source of an earlier opt-out stays.

    Return whether the contact has to be saved. Opting in a contact that has not opted out needs no save.
    """
    if not is_out and not contact.opted_out:
        return False
    if is_out and not contact.opted_out:
        contact.opted_out_at, contact.opt_out_source = now, source
    elif not is_out:
        contact.opted_out_at, contact.opt_out_source = None, None
    contact.consent_told_at = max(filter(None, (contact.consent_told_at, now)))
    return True


def opt_out_events(contact: Contact | ContactRow, was_out: bool) -> Iterator[NamedEvent]:
    """Yield the event for a changed opt-out. `was_out` is the state before."""
    if contact.opted_out != was_out:
        yield events.CONTACT_OPTED_OUT if contact.opted_out else events.CONTACT_OPTED_IN, {"contact": contact}


# A choice's time is stored even if it changes nothing, so that an older one that is read later is ignored.
UPDATE_MARKETING_CHOICES = """
UPDATE contacts_contact contact
SET marketing_told_at = told.at,
    marketing_opted_out_at = CASE WHEN told.is_out THEN coalesce(contact.marketing_opted_out_at, told.at) END,
    updated_at = CASE WHEN told.was_out = told.is_out THEN contact.updated_at ELSE %s END
FROM (
    SELECT contact.id, told.at, told.is_out, contact.marketing_opted_out_at IS NOT NULL AS was_out
    FROM unnest(%s::bigint[], %s::timestamptz[], %s::boolean[]) AS told (id, at, is_out)
    JOIN contacts_contact contact USING (id)
    WHERE coalesce(contact.marketing_told_at, contact.marketing_opted_out_at) IS NULL
        OR told.at > coalesce(contact.marketing_told_at, contact.marketing_opted_out_at)
        OR (told.is_out AND told.at = coalesce(contact.marketing_told_at, contact.marketing_opted_out_at))
    ORDER BY contact.id FOR NO KEY UPDATE OF contact
) AS told
WHERE contact.id = told.id
"""


class MarketingChoice(NamedTuple):
    """Whether a contact wants marketing, and the network's time of that choice."""

    contact: int
    at: datetime
    is_wanted: bool = False


def apply_marketing_choices(*, choices: Iterable[MarketingChoice], now: datetime) -> None:
    """Opt contacts out of marketing, or in again, by the newest choice of each. At equal times the opt-out counts."""
    last: dict[int, MarketingChoice] = {}
    for choice in sorted(choices, key=lambda one: (one.at, not one.is_wanted)):
        last[choice.contact] = choice
    if last:
        columns = [
            integers(last),
            timestamps([choice.at for choice in last.values()]),
            booleans([not choice.is_wanted for choice in last.values()]),
        ]
        with connection.cursor() as cursor:
            cursor.execute(UPDATE_MARKETING_CHOICES, [now, *columns])

"""The secret address at which calendar programs read a staff member's appointments and classes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from operator import attrgetter
from typing import Any, Final

from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext as _

from agency.actors import Actor
from agency.services import record_activity
from agency.services.hosts import base_url_of
from config.errors import NotFound
from workspaces.appointments.models import Appointment, CalendarFeed
from workspaces.appointments.services.calendar_files import CalendarEvent, feed_file
from workspaces.appointments.services.links import LONGEST_TOKEN, digest_of, new_token
from workspaces.catalogue.models import Staff
from workspaces.catalogue.services import StaffNotFound
from workspaces.classes.models import ClassSession

# A file holds what begins in this time. Of more entries it holds those that are nearest to now.
PAST: Final = timedelta(days=30)
COMING: Final = timedelta(days=180)
MOST_ENTRIES: Final = 2_000
FETCHES_NOTED_EVERY: Final = timedelta(hours=1)
APPOINTMENT_FIELDS: Final = (
    "uuid",
    "starts_at",
    "ends_at",
    "status",
    "updated_at",
    "calendar_sequence",
    "service__name",
    "contact__name",
    "contact__phone",
    "contact__email",
)
CLASS_FIELDS: Final = (
    "uuid",
    "starts_at",
    "ends_at",
    "status",
    "created_at",
    "service__name",
    "participants_count",
    "capacity",
)


class CalendarFeedNotFound(NotFound):
    message = "Calendar address not found."


@dataclass(frozen=True, slots=True)
class FeedContents:
    """What a file would hold, with the events in the order of their start."""

    name: str
    events: tuple[CalendarEvent, ...]

    @property
    def digest(self) -> str:
        """Tell these contents from others."""
        return sha256(repr(self).encode()).hexdigest()

    def write(self, *, now: datetime) -> bytes:
        return feed_file(self.events, name=self.name, now=now)


def feed_of(staff: Staff) -> CalendarFeed | None:
    """Return the staff member's feed; None if it has none."""
    return CalendarFeed.objects.filter(staff=staff).first()


def feed_url(feed: CalendarFeed) -> str:
    """Return the secret address, on the agency's host."""
    return f"{base_url_of(feed.workspace.agency_id)}/calendar/{feed.token}.ics"


@transaction.atomic
def create_feed(*, staff: Staff, now: datetime, by: Actor) -> CalendarFeed:
    """Make a staff member's address. One that is there already stays. Raises `StaffNotFound`."""
    locked = _lock(staff)
    found = feed_of(locked)
    if found is not None:
        return found
    token, digest = new_token()
    feed = CalendarFeed(workspace=staff.workspace, staff=staff, token_digest=digest, created_at=now, token=token)
    feed.save()
    _record(staff, "created", by)
    return feed


@transaction.atomic
def renew_feed(*, staff: Staff, now: datetime, by: Actor) -> CalendarFeed:
    """Replace a staff member's address, so that the old one stops. Raises `CalendarFeedNotFound`, `StaffNotFound`."""
    feed = feed_of(_lock(staff))
    if feed is None:
        raise CalendarFeedNotFound
    feed.token, feed.token_digest = new_token()
    feed.created_at, feed.last_fetched_at = now, None
    feed.save()
    _record(staff, "renewed", by)
    return feed


@transaction.atomic
def remove_feed(*, staff: Staff, by: Actor) -> None:
    """Remove a staff member's address, so that it stops. Raises `CalendarFeedNotFound`, `StaffNotFound`."""
    feed = feed_of(_lock(staff))
    if feed is None:
        raise CalendarFeedNotFound
    feed.delete()
    _record(staff, "removed", by)


def _lock(staff: Staff) -> Staff:
    locked = Staff.objects.select_for_update(no_key=True).filter(pk=staff.pk, deleted_at=None).first()
    if locked is None:
        raise StaffNotFound
    return locked


def _record(staff: Staff, what: str, by: Actor) -> None:
    workspace = staff.workspace
    record_activity(
        by=by,
        action=f"calendar_feed.{what}",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("staff", staff.uuid, staff.name),
    )


def feed_of_token(token: str) -> CalendarFeed | None:
    """Find the feed of an address. That of a deleted staff member is gone."""
    if len(token) > LONGEST_TOKEN:
        return None
    rows = CalendarFeed.objects.select_related("staff", "workspace__agency")
    return rows.filter(token_digest=digest_of(token), staff__deleted_at=None).first()


def note_fetch(feed: CalendarFeed, *, now: datetime) -> None:
    """Remember that a program has read the feed."""
    rows = CalendarFeed.objects.filter(pk=feed.pk)
    rows.filter(Q(last_fetched_at=None) | Q(last_fetched_at__lte=now - FETCHES_NOTED_EVERY)).update(last_fetched_at=now)


def contents_of(feed: CalendarFeed, *, now: datetime) -> FeedContents:
    """Load what is in the feed now, in the active language."""
    found = [*_appointments(feed, now), *_classes(feed, now)]
    if len(found) > MOST_ENTRIES:
        found = sorted(found, key=lambda one: abs(one.starts_at - now))[:MOST_ENTRIES]
    name = f"{feed.staff.name} ({feed.workspace.name})"
    return FeedContents(name, tuple(sorted(found, key=attrgetter("starts_at", "uuid"))))


def _appointments(feed: CalendarFeed, now: datetime) -> Iterator[CalendarEvent]:
    """Yield the appointments, those included that took place. Cancelled ones stay for as long as past ones do."""
    cancelled = Appointment.Status.CANCELLED
    rows = Appointment.objects.filter(staff=feed.staff).filter(~Q(status=cancelled) | Q(cancelled_at__gte=now - PAST))
    for row in _nearest(rows, APPOINTMENT_FIELDS, now):
        uuid, starts_at, ends_at, status, changed_at, sequence, service, name, phone, email = row
        yield CalendarEvent(
            uuid=uuid,
            sequence=sequence,
            starts_at=starts_at,
            ends_at=ends_at,
            title=_title(service, name or phone or email or ""),
            description=phone or "",
            is_cancelled=status == cancelled,
            changed_at=changed_at,
            **_common(feed, f"appointments/{uuid}"),
        )


def _classes(feed: CalendarFeed, now: datetime) -> Iterator[CalendarEvent]:
    rows = ClassSession.objects.filter(staff=feed.staff)
    for row in _nearest(rows, CLASS_FIELDS, now):
        uuid, starts_at, ends_at, status, created_at, service, taken, seats = row
        yield CalendarEvent(
            uuid=uuid,
            kind="classes",
            sequence=0,
            starts_at=starts_at,
            ends_at=ends_at,
            title=_title(service, f"{taken}/{seats}"),
            description=_("%(taken)s of %(seats)s seats taken") % {"taken": taken, "seats": seats},
            is_cancelled=status == ClassSession.Status.CANCELLED,
            changed_at=created_at,
            **_common(feed, f"classes/{uuid}"),
        )


def _nearest(rows: "QuerySet[Model]", fields: tuple[str, ...], now: datetime) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that begin next and those that began last, at most `MOST_ENTRIES` of each."""
    coming = rows.filter(starts_at__gte=now, starts_at__lt=now + COMING).order_by("starts_at", "id")
    past = rows.filter(starts_at__lt=now, starts_at__gte=now - PAST).order_by("-starts_at", "-id")
    for part in (coming, past):
        yield from part.values_list(*fields)[:MOST_ENTRIES]


def _title(service: str, of: str) -> str:
    return f"{service} ({of})" if of else service


def _common(feed: CalendarFeed, path: str) -> dict[str, Any]:
    """Give what all events of a feed have in common, and the address of the page in the dashboard."""
    return {
        "location": feed.workspace.address,
        "business": "",
        "address": f"{base_url_of(feed.workspace.agency_id)}/app/{path}",
        "attendee": "",
    }

"""Calendar files (ICS): one appointment or seat for its visitor, or the calendar of a staff member."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parseaddr
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal, Self
from uuid import UUID

from django.conf import settings

from workspaces.appointments.models import Appointment, ClassBooking

if TYPE_CHECKING:
    from icalendar import Calendar, Event, vCalAddress, vText

Method = Literal["PUBLISH", "REQUEST", "CANCEL"]
PRODUCT: Final = "-//Appointments//EN"
# How often programs may read a staff member's calendar again.
REFRESH: Final = timedelta(hours=1)
# Names from other networks may hold them. Line breaks are escaped, but these would be written as they are.
CONTROL_CHARACTERS: Final = re.compile("\r(?!\n)|[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")


def load_icalendar() -> ModuleType:
    """Import icalendar with the first calendar file: it takes 0.1 s and memory, and most processes write none."""
    return import_module("icalendar")


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEvent:
    """An appointment or a seat as a calendar shows it. `attendee` is the visitor's e-mail address, or empty.

    `kind` keeps its id apart from those of other things. `address` is the page about it. `business` invites the
    visitor; it is empty in a person's own calendar, whose entries are no invitations.
    """

    uuid: UUID
    sequence: int
    starts_at: datetime
    ends_at: datetime
    title: str
    location: str
    business: str
    address: str
    attendee: str
    changed_at: datetime
    description: str = ""
    kind: Literal["appointments", "classes"] = "appointments"
    is_cancelled: bool = False

    @classmethod
    def of(cls, appointment: Appointment, *, address: str) -> Self:
        """Return the event of an appointment; `address` is the visitor's page about it."""
        workspace = appointment.workspace
        return cls(
            uuid=appointment.uuid,
            sequence=appointment.calendar_sequence,
            starts_at=appointment.starts_at,
            ends_at=appointment.ends_at,
            title=f"{appointment.service.name} ({appointment.staff.name})",
            location=workspace.address,
            business=workspace.name,
            address=address,
            attendee=(appointment.contact.email or "") if appointment.contact else "",
            changed_at=appointment.updated_at,
        )

    @classmethod
    def of_seat(cls, booking: ClassBooking, *, address: str) -> Self:
        """Return the event of a seat in a class; `address` is the visitor's page about it."""
        session = booking.session
        return cls(
            uuid=booking.uuid,
            sequence=booking.calendar_sequence,
            starts_at=session.starts_at,
            ends_at=session.ends_at,
            title=session.service.name,
            location=session.workspace.address,
            business=session.workspace.name,
            address=address,
            attendee=(booking.contact.email or "") if booking.contact else "",
            changed_at=booking.updated_at,
        )


def calendar_file(event: CalendarEvent, method: Method) -> bytes:
    """Write the file of one appointment or seat.

    Its UID never changes, and a higher `sequence` replaces what a calendar has. Times are in UTC.
    """
    icalendar = load_icalendar()
    calendar = _calendar(icalendar, method)
    event = replace(event, is_cancelled=method == "CANCEL")
    calendar.add_component(_entry(icalendar, event, stamp=event.changed_at, with_attendee=method != "PUBLISH"))
    written: bytes = calendar.to_ical()
    return written


def feed_file(events: Iterable[CalendarEvent], *, name: str, now: datetime) -> bytes:
    """Write the file of many events, which programs read again and again.

    All events are stamped with `now`: names and classes change without a higher `sequence`.
    """
    icalendar = load_icalendar()
    calendar = _calendar(icalendar, "PUBLISH")
    for label in ("name", "x-wr-calname"):
        calendar.add(label, _text(icalendar, name))
    calendar.add("refresh-interval", REFRESH, parameters={"VALUE": "DURATION"})
    calendar.add("x-published-ttl", icalendar.vDuration(REFRESH))
    for event in events:
        calendar.add_component(_entry(icalendar, event, stamp=now, with_attendee=False))
    written: bytes = calendar.to_ical()
    return written


def _calendar(icalendar: ModuleType, method: Method) -> "Calendar":
    calendar: Calendar = icalendar.Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("method", method)
    return calendar


def _entry(icalendar: ModuleType, event: CalendarEvent, *, stamp: datetime, with_attendee: bool) -> "Event":
    entry: Event = icalendar.Event()
    entry.add("uid", f"{event.uuid}@{event.kind}")
    entry.add("sequence", event.sequence)
    entry.add("dtstamp", stamp.astimezone(UTC))
    entry.add("dtstart", event.starts_at.astimezone(UTC))
    entry.add("dtend", event.ends_at.astimezone(UTC))
    entry.add("summary", _text(icalendar, event.title))
    if event.description:
        entry.add("description", _text(icalendar, event.description))
    if event.location:
        entry.add("location", _text(icalendar, event.location))
    entry.add("url", event.address)
    entry.add("status", "CANCELLED" if event.is_cancelled else "CONFIRMED")
    if event.business:
        entry.add("organizer", _person(icalendar, parseaddr(settings.DEFAULT_FROM_EMAIL)[1], event.business))
    if event.attendee and with_attendee:
        entry.add("attendee", _person(icalendar, event.attendee, ""), encode=False)
    return entry


def _text(icalendar: ModuleType, text: str) -> "vText":
    made: vText = icalendar.vText(CONTROL_CHARACTERS.sub(" ", text))
    return made


def _person(icalendar: ModuleType, address: str, name: str) -> "vCalAddress":
    person: vCalAddress = icalendar.vCalAddress(f"mailto:{address}")
    if name:
        person.params["CN"] = _text(icalendar, name)
    return person

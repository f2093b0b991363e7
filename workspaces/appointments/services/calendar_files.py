"""Calendar files (ICS) of appointments and of seats in classes, which calendars of visitors read."""

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parseaddr
from importlib import import_module
from typing import Any, Final, Literal, Self
from uuid import UUID

from django.conf import settings

from workspaces.appointments.models import Appointment, ClassBooking

Method = Literal["PUBLISH", "REQUEST", "CANCEL"]
PRODUCT: Final = "-//Appointments//EN"


def load_icalendar() -> Any:
    """Import icalendar with the first calendar file: it takes 0.1 s and memory, and most processes write none."""
    return import_module("icalendar")


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEvent:
    """An appointment or a seat as a calendar shows it. `attendee` is the visitor's e-mail address, or empty."""

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
    calendar = icalendar.Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("method", method)
    calendar.add_component(_entry(icalendar, event, method))
    written: bytes = calendar.to_ical()
    return written


def _entry(icalendar: Any, event: CalendarEvent, method: Method) -> Any:
    entry = icalendar.Event()
    entry.add("uid", f"{event.uuid}@appointments")
    entry.add("sequence", event.sequence)
    entry.add("dtstamp", event.changed_at.astimezone(UTC))
    entry.add("dtstart", event.starts_at.astimezone(UTC))
    entry.add("dtend", event.ends_at.astimezone(UTC))
    entry.add("summary", event.title)
    if event.location:
        entry.add("location", event.location)
    entry.add("url", event.address)
    entry.add("status", "CANCELLED" if method == "CANCEL" else "CONFIRMED")
    entry.add("organizer", _person(icalendar, parseaddr(settings.DEFAULT_FROM_EMAIL)[1], event.business))
    if event.attendee and method != "PUBLISH":
        entry.add("attendee", _person(icalendar, event.attendee, ""), encode=0)
    return entry


def _person(icalendar: Any, address: str, name: str) -> Any:
    person = icalendar.vCalAddress(f"mailto:{address}")
    if name:
        person.params["CN"] = icalendar.vText(name)
    return person

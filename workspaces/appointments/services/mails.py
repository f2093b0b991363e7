"""The e-mails to visitors about their bookings, with calendar files, and the codes that show whose an address is."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, TypedDict
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.crypto import salted_hmac

from agency.models import Mail
from agency.services.mail.attachments import MailAttachment, MailAttachments
from agency.services.mail.content import ABOUT_CLASSES, MailLink
from agency.services.mail.queue import queue_to_address, queue_to_addresses
from config.formats import format_day_time, format_time
from config.wall_clock import known_zone
from workspaces.appointments.models import Appointment, BookingPage, ClassBooking, Hold, VisitorBooking
from workspaces.appointments.services.booking import AppointmentHandler
from workspaces.appointments.services.calendar_files import CalendarEvent, Method, calendar_file
from workspaces.appointments.services.links import manage_url, seat_url
from workspaces.classes.models import ClassSession

CODE_DIGITS: Final = 6
CHANGES: Final = {"rescheduled": Mail.Kind.APPOINTMENT_CHANGED, "cancelled": Mail.Kind.APPOINTMENT_CANCELLED}
METHODS: Final[Mapping[str, Method]] = {
    Mail.Kind.APPOINTMENT_BOOKED: "REQUEST",
    Mail.Kind.APPOINTMENT_CHANGED: "REQUEST",
    Mail.Kind.APPOINTMENT_CANCELLED: "CANCEL",
}
METHODS_OF_CLASSES: Final[Mapping[str, Method]] = {
    Mail.Kind.SEAT_BOOKED: "REQUEST",
    Mail.Kind.SEAT_MOVED_UP: "REQUEST",
    Mail.Kind.SEAT_CANCELLED: "CANCEL",
    Mail.Kind.CLASS_CHANGED: "REQUEST",
    Mail.Kind.CLASS_CANCELLED: "CANCEL",
}


def code_of(booking: UUID) -> str:
    """Return the code of a visitor's booking, which is computed anew each time and stored nowhere."""
    digest = salted_hmac("appointments.booking_code", booking.hex, algorithm="sha256").digest()
    return f"{int.from_bytes(digest[:8]) % 10**CODE_DIGITS:0{CODE_DIGITS}}"


def time_in_words(starts_at: datetime, ends_at: datetime, zone: str) -> str:
    """Write a time by the clock of a zone, in the current language, with the zone's name."""
    name = known_zone(zone, None)
    first, last = starts_at.astimezone(ZoneInfo(name)), ends_at.astimezone(ZoneInfo(name))
    day = format_day_time(first, "yMMMMEEEEd")
    return f"{day}\u2013{format_time(last)} ({name.replace('_', ' ')})"


def queue_code(booking: VisitorBooking, *, slug: str) -> Mail:
    """Queue the e-mail with the code of a visitor's booking."""
    context = {
        "booking": str(booking.uuid),
        "slug": slug,
        "business": booking.workspace.name,
        "language": booking.language,
    }
    return queue_to_address(
        kind=Mail.Kind.BOOKING_CODE, recipient=booking.email, context=context, agency=booking.workspace.agency
    )


def queue_about(appointment: Appointment, kind: Mail.Kind) -> Mail | None:
    """Queue an e-mail about an appointment as it is now; None if the contact has no e-mail address."""
    contact = appointment.contact
    if contact is None or not contact.email:
        return None
    context = {
        "appointment": str(appointment.uuid),
        "sequence": appointment.calendar_sequence,
        "starts_at": appointment.starts_at.isoformat(),
        "ends_at": appointment.ends_at.isoformat(),
        "changed_at": appointment.updated_at.isoformat(),
        "zone": appointment.timezone,
        "service": appointment.service.name,
        "staff": appointment.staff.name,
        "business": appointment.workspace.name,
        "language": appointment.language,
    }
    return queue_to_address(kind=kind, recipient=contact.email, context=context, agency=appointment.workspace.agency)


def queue_about_class(
    session: ClassSession, kind: Mail.Kind, bookings: Iterable[ClassBooking], *, in_calendar: bool = True
) -> None:
    """Queue an e-mail about a class as it is now to the contacts of these bookings who have an e-mail address.

    With `in_calendar` it has a calendar file: they have a seat, or had one until now.
    """
    contexts = (
        (booking.contact.email, _about_class(session, booking, in_calendar))
        for booking in bookings
        if booking.contact is not None and booking.contact.email
    )
    queue_to_addresses(kind=kind, contexts=contexts, agency=session.workspace.agency)


def _about_class(session: ClassSession, booking: ClassBooking, in_calendar: bool) -> dict[str, object]:
    return {
        "class_booking": str(booking.uuid),
        "in_calendar": in_calendar,
        "sequence": booking.calendar_sequence,
        "starts_at": session.starts_at.isoformat(),
        "ends_at": session.ends_at.isoformat(),
        "changed_at": booking.updated_at.isoformat(),
        "zone": booking.timezone,
        "service": session.service.name,
        "staff": session.staff.name if session.staff else "",
        "business": session.workspace.name,
        "language": booking.language,
    }


def queue_refund(hold: Hold, booking: VisitorBooking | None) -> Mail | None:
    """Queue the e-mail that says that a deposit is paid back; None without an e-mail address or a booking page.

    `booking` is what the visitor has typed, while it is kept.
    """
    recipient = booking.email if booking else hold.contact.email if hold.contact else None
    slug = BookingPage.objects.filter(workspace=hold.workspace_id).values_list("slug", flat=True).first()
    if not recipient or slug is None:
        return None
    context = {
        "slug": slug,
        "starts_at": hold.starts_at.isoformat(),
        "ends_at": hold.ends_at.isoformat(),
        "zone": hold.timezone,
        "service": hold.service.name,
        "business": hold.workspace.name,
        "language": booking.language if booking else "",
    }
    return queue_to_address(
        kind=Mail.Kind.DEPOSIT_REFUNDED, recipient=recipient, context=context, agency=hold.workspace.agency
    )


def _tell_contact(appointment: Appointment, what: str, now: datetime) -> None:
    """Tell the contact about a new time or a cancellation. `book_visit` tells visitors of what they have booked."""
    if what in CHANGES:
        queue_about(appointment, CHANGES[what])


MAIL_HANDLER: Final = AppointmentHandler("mails", _tell_contact)


class _MailedFacts(TypedDict):
    """What an e-mail has told about a time, as a calendar's event needs it."""

    sequence: int
    starts_at: datetime
    ends_at: datetime
    business: str
    changed_at: datetime


def _words(mail: Mail) -> dict[str, object]:
    starts_at, ends_at = (datetime.fromisoformat(mail.context[name]) for name in ("starts_at", "ends_at"))
    return {"when": time_in_words(starts_at, ends_at, mail.context["zone"])}


def _appointment_of(mail: Mail) -> Appointment:
    rows = Appointment.objects.with_names().select_related("workspace")
    return rows.get(uuid=mail.context["appointment"])


def _calendar_files(mail: Mail) -> list[MailAttachment]:
    """Make the calendar file of what the e-mail says, even if the appointment has changed since."""
    told, appointment, method = mail.context, _appointment_of(mail), METHODS[mail.kind]
    event = CalendarEvent(
        uuid=appointment.uuid,
        title=f"{told['service']} ({told['staff']})",
        location=appointment.workspace.address,
        address=manage_url(appointment),
        attendee=mail.recipient,
        **_facts_of(mail),
    )
    return [MailAttachment("appointment.ics", calendar_file(event, method), _content_type(method))]


def _facts_of(mail: Mail) -> _MailedFacts:
    told = mail.context
    return _MailedFacts(
        sequence=told["sequence"],
        starts_at=datetime.fromisoformat(told["starts_at"]),
        ends_at=datetime.fromisoformat(told["ends_at"]),
        business=told["business"],
        changed_at=datetime.fromisoformat(told["changed_at"]),
    )


def _content_type(method: Method) -> str:
    return f"text/calendar; method={method}; charset=utf-8"


def _class_booking_of(mail: Mail) -> ClassBooking:
    return ClassBooking.objects.with_names().get(uuid=mail.context["class_booking"])


def _calendar_files_of_class(mail: Mail) -> list[MailAttachment]:
    """Make the calendar file of what the e-mail says about a seat; none for somebody on the waiting list."""
    if not mail.context["in_calendar"]:
        return []
    booking, method = _class_booking_of(mail), METHODS_OF_CLASSES[mail.kind]
    event = CalendarEvent(
        uuid=booking.uuid,
        title=mail.context["service"],
        location=booking.session.workspace.address,
        address=seat_url(booking),
        attendee=mail.recipient,
        **_facts_of(mail),
    )
    return [MailAttachment("class.ics", calendar_file(event, method), _content_type(method))]


def _manage_path(mail: Mail) -> str:
    return f"/book/manage/{_appointment_of(mail).token}"


def _seat_path(mail: Mail) -> str:
    return f"/book/seat/{_class_booking_of(mail).token}"


def _code_path(mail: Mail) -> str:
    return f"/book/{mail.context['slug']}/code/{mail.context['booking']}"


def _code(mail: Mail) -> dict[str, object]:
    return {"code": code_of(UUID(mail.context["booking"]))}


def _page_path(mail: Mail) -> str:
    return f"/book/{mail.context['slug']}"


LINKS: Final = (
    MailLink(Mail.Kind.BOOKING_CODE, _code_path, make_context=_code),
    *(MailLink(kind, _manage_path, make_context=_words) for kind in METHODS),
    MailLink(Mail.Kind.DEPOSIT_REFUNDED, _page_path, make_context=_words),
    *(MailLink(kind, _seat_path, make_context=_words) for kind in ABOUT_CLASSES),
)
ATTACHMENTS: Final = (
    *(MailAttachments(kind, _calendar_files) for kind in METHODS),
    *(MailAttachments(kind, _calendar_files_of_class) for kind in METHODS_OF_CLASSES),
)

"""What the demo workspace begins with, so that its pages show something: contacts, bookings, a class and invoices."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from config.operations.bootstrap_accounts import BOOTSTRAP
from workspaces.appointments.models import Appointment
from workspaces.appointments.services.availability import free_times
from workspaces.appointments.services.booking import book_appointment
from workspaces.appointments.services.booking_pages import change_booking_page
from workspaces.appointments.services.hours import set_working_hours
from workspaces.appointments.services.moves import complete_appointment, confirm_appointment, miss_appointment
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import create_service, create_staff
from workspaces.classes.services import add_participant, schedule_class
from workspaces.contacts.models import Contact
from workspaces.contacts.services import create_contact
from workspaces.conversations.facts import ChannelReference, MessageReceived, Person
from workspaces.conversations.services.inbound import lock_channels, receive_messages
from workspaces.finance.models import Invoice, Payment
from workspaces.finance.services.invoices import LineInput, create_invoice, issue_invoice, void_invoice
from workspaces.finance.services.payments import record_payment
from workspaces.finance.services.refunds import refund_payment
from workspaces.finance.services.settings import change_finance_settings
from workspaces.finance.services.taxes import create_tax_rate
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import change_workspace

# No sample of the documentation uses the same names.

# Such numbers are reserved for films and examples. They ring nowhere.
CONTACTS: Final = (
    ("Nora Lindqvist", "+447700900321", "nora@demo.example"),
    ("Samuel Okafor", "+14155550142", "samuel@demo.example"),
    ("Isla McKenzie", "+61491570156", "isla@demo.example"),
)
QUESTION: Final = "Do you have a table for two tonight?"
CLASS: Final = "Pilates"
OPEN: Final = [["09:00", "18:00"]]
OPENING_HOURS: Final = {
    **dict.fromkeys(("monday", "tuesday", "wednesday", "thursday", "friday"), OPEN),
    "saturday": [["10:00", "14:00"]],
    "sunday": [],
}
LATE: Final = {**OPENING_HOURS, "monday": [], "thursday": [["12:00", "20:00"]]}
DAY: Final = timedelta(days=1)
# How many days ago appointments were booked, for the next day on which somebody works, and how they ended.
PAST_APPOINTMENTS: Final = (
    (13, complete_appointment),
    (6, miss_appointment),
    (4, complete_appointment),
    (3, complete_appointment),
)
# Which of its free times is taken on each of the next days.
FREE_TIMES_TAKEN: Final = (3, 14, 8, 1, 11, 5)


def add_demo_data(workspace: Workspace, channel: Channel, *, now: datetime) -> None:
    """Add contacts, a question from the first of them, and what the business does with them."""
    contacts = [
        create_contact(workspace=workspace, name=name, phone=phone, email=email, now=now)
        for name, phone, email in CONTACTS
    ]
    _begin_a_conversation(channel, now)
    add_business(workspace, contacts, now)


def add_business(workspace: Workspace, contacts: list[Contact], now: datetime) -> None:
    """Add staff, services, a booking page, appointments, classes and invoices."""
    catalogue = _add_catalogue(workspace, now)
    change_booking_page(
        workspace=workspace, now=now, by=BOOTSTRAP, enabled=True, introduction="We look forward to your visit."
    )
    _book(catalogue, contacts, now)
    _schedule_classes(catalogue, contacts, now)
    _write_invoices(workspace, contacts, now)


def _begin_a_conversation(channel: Channel, now: datetime) -> None:
    """Let the first contact write, so that a free text may be the answer for a day."""
    workspace, (name, phone, _) = channel.workspace, CONTACTS[0]
    reference = ChannelReference(
        id=channel.pk,
        platform=channel.platform,
        workspace_id=workspace.pk,
        workspace_uuid=workspace.uuid,
        agency_id=workspace.agency_id,
    )
    person = Person(external_id=phone.removeprefix("+"), phone=phone, name=name)
    message_id = f"demo-{workspace.uuid}"
    question = MessageReceived(
        channel=reference, person=person, at=now, message_id=message_id, type="text", text=QUESTION
    )
    lock_channels([channel.pk])
    receive_messages([question], now=now)


# Appointments and classes -------------------------------------------------------------------------


class Catalogue(NamedTuple):
    """The services of the demo workspace, and the staff member who hosts its classes."""

    workspace: Workspace
    cut: Service
    highlights: Service
    pilates: Service
    host: Staff


def _add_catalogue(workspace: Workspace, now: datetime) -> Catalogue:
    """Add staff with working hours, two services that can be booked, and one that has classes."""
    change_workspace(workspace=workspace, by=BOOTSTRAP, opening_hours=OPENING_HOURS)
    first, second = [
        create_staff(workspace=workspace, name=name, now=now, by=BOOTSTRAP) for name in ("Mara Jansen", "Theo Brandt")
    ]
    set_working_hours(staff=second, timezone=workspace.timezone, weekly=LATE, exceptions={}, now=now, by=BOOTSTRAP)
    cut = create_service(
        workspace=workspace,
        name="Cut and blow-dry",
        kind=Service.Kind.APPOINTMENT,
        duration_minutes=45,
        price=Decimal(38),
        buffer_after=15,
        step_minutes=30,
        staff=[first, second],
        now=now,
        by=BOOTSTRAP,
    )
    highlights = create_service(
        workspace=workspace,
        name="Highlights",
        kind=Service.Kind.APPOINTMENT,
        duration_minutes=120,
        price=Decimal(95),
        deposit=Decimal(20),
        step_minutes=30,
        staff=[first],
        now=now,
        by=BOOTSTRAP,
    )
    pilates = create_service(
        workspace=workspace,
        name=CLASS,
        kind=Service.Kind.CLASS,
        duration_minutes=60,
        price=Decimal(15),
        now=now,
        by=BOOTSTRAP,
    )
    return Catalogue(workspace, cut, highlights, pilates, first)


def _book(catalogue: Catalogue, contacts: list[Contact], now: datetime) -> None:
    """Book some appointments of the past two weeks, and one on each of the next days on which somebody works."""
    # That day is over by now, because only Sundays are closed.
    for days, end in PAST_APPOINTMENTS:
        then = now - days * DAY
        starts_at = next(_times(catalogue.cut, then))
        appointment = _appointment(catalogue.cut, contacts[days % 3], starts_at, then)
        end(appointment=appointment, now=appointment.ends_at, by=BOOTSTRAP)
    services = (catalogue.cut, catalogue.cut, catalogue.highlights)
    for number, starts_at in enumerate(list(_times(catalogue.cut, now))[: len(FREE_TIMES_TAKEN)]):
        service = services[number % 3]
        at_once = next(
            one.starts_at
            for one in free_times(
                workspace=catalogue.workspace, service=service, first=starts_at, last=starts_at + 7 * DAY, now=now
            )
        )
        appointment = _appointment(service, contacts[number % 3], at_once, now)
        if number % 2 == 0:
            confirm_appointment(appointment=appointment, now=now, by=BOOTSTRAP)


def _times(service: Service, now: datetime) -> Iterator[datetime]:
    """Give a free time of each day from tomorrow on, at different hours."""
    zone = ZoneInfo(service.workspace.timezone)
    midnight = (now.astimezone(zone) + DAY).replace(hour=0, minute=0, second=0, microsecond=0)
    found = free_times(workspace=service.workspace, service=service, first=midnight, last=midnight + 10 * DAY, now=now)
    days: dict[str, list[datetime]] = {}
    for one in found:
        days.setdefault(one.starts_at.astimezone(zone).date().isoformat(), []).append(one.starts_at)
    for times, taken in zip(days.values(), FREE_TIMES_TAKEN, strict=False):
        yield times[taken % len(times)]


def _appointment(service: Service, contact: Contact, starts_at: datetime, now: datetime) -> Appointment:
    return book_appointment(
        workspace=service.workspace,
        service=service,
        contact=contact,
        starts_at=starts_at,
        now=now,
        by=BOOTSTRAP,
        source=Appointment.Source.DASHBOARD,
    )


def _schedule_classes(catalogue: Catalogue, contacts: list[Contact], now: datetime) -> None:
    """Schedule two classes in the evening. The first has participants."""
    evening = now.astimezone(ZoneInfo(catalogue.workspace.timezone)).replace(
        hour=18, minute=30, second=0, microsecond=0
    )
    first, _ = [
        schedule_class(
            workspace=catalogue.workspace,
            service=catalogue.pilates,
            staff=catalogue.host,
            starts_at=evening + days * DAY,
            capacity=8,
            now=now,
            by=BOOTSTRAP,
        )
        for days in (2, 9)
    ]
    for contact in contacts[:2]:
        add_participant(session=first, contact=contact, now=now)


# Invoices -----------------------------------------------------------------------------------------


def _write_invoices(workspace: Workspace, contacts: list[Contact], now: datetime) -> None:
    """Write a draft, and invoices that are paid, partly refunded, overdue, void, and open."""
    change_finance_settings(
        workspace=workspace,
        business_name="Demo Salon",
        address="1 Example Street\n12345 Exampletown",
        tax_number="00-0000000",
        now=now,
        by=BOOTSTRAP,
    )
    rate = create_tax_rate(workspace=workspace, name="Sales tax", percent=Decimal(8), now=now, by=BOOTSTRAP)

    def issued(contact: Contact, days_ago: int, *lines: tuple[str, int]) -> Invoice:
        return issue_invoice(invoice=draft(contact, days_ago, *lines), now=now - days_ago * DAY, by=BOOTSTRAP)

    def draft(contact: Contact, days_ago: int, *lines: tuple[str, int]) -> Invoice:
        inputs = [LineInput(text, Decimal(1), Decimal(price), rate) for text, price in lines]
        moment = now - days_ago * DAY
        return create_invoice(workspace=workspace, contact=contact, lines=inputs, now=moment, by=BOOTSTRAP)

    first, second, third = contacts
    _pay(issued(first, 40, ("Highlights", 95), ("Cut and blow-dry", 38)), now - 35 * DAY)
    refunded = _pay(issued(second, 32, ("Ten classes of Pilates", 120)), now - 30 * DAY)
    refund_payment(
        payment=refunded, amount=2_400, now=now - 12 * DAY, by=BOOTSTRAP, reason="Two classes were cancelled."
    )
    issued(third, 25, ("Cut and blow-dry", 38), ("Hair oil", 24))  # was due after 14 days
    void_invoice(invoice=issued(first, 9, ("Cut and blow-dry", 38)), now=now - 8 * DAY, by=BOOTSTRAP)
    _pay(issued(third, 6, ("Highlights", 95), ("Hair oil", 24)), now - DAY)
    issued(second, 2, ("Highlights", 95))
    draft(third, 0, ("Cut and blow-dry", 38))


def _pay(invoice: Invoice, at: datetime) -> Payment:
    return record_payment(
        invoice=invoice, amount=invoice.balance, method=Payment.Method.BANK_TRANSFER, now=at, by=BOOTSTRAP
    )

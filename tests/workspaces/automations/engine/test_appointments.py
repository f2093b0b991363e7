"""Runs book and change appointments, remind of them, and ask for payments; whatever is taken or moved meanwhile."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.factories.flows import Flow, a_flow, a_step
from tests.tenants import Tenant
from tests.workspaces.automations.engine.test_engine import on, say, sent
from tests.workspaces.conversations.facts import moment
from workspaces.appointments.models import Appointment
from workspaces.appointments.services.booking import book_appointment
from workspaces.appointments.services.moves import cancel_appointment, reschedule_appointment
from workspaces.automations.engine.loop import run_due
from workspaces.automations.models import AppointmentReminder, AutomationRun, InternalCall, TriggerEvent
from workspaces.automations.services.switching import enable_automation
from workspaces.automations.tasks import remind
from workspaces.catalogue.models import Service, ServiceStaff, Staff
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Message
from workspaces.finance.models import Invoice
from workspaces.finance.services.payments import record_payment
from workspaces.subaccounts.models.workspaces import DAYS

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db

BOOK = a_flow(
    a_step("book", "book_appointment", {"booked": "thanks", "not_booked": "sorry"}, text="When would you like to come?"),
    a_step("thanks", "send_text", text="See you on {{appointment.date}} at {{appointment.time}}: {{appointment.service}}."),
    a_step("sorry", "send_text", text="A colleague will write to you."),
    keywords=["book"],
)


def a_service(a: Tenant, name: str = "Haircut", **values: Any) -> Service:
    """A service of an hour, for which Kim works from nine to five on every day."""
    a.workspace.opening_hours = {day: [["09:00", "17:00"]] for day in DAYS}
    a.workspace.save(update_fields=["opening_hours"])
    service = Service.objects.create(
        workspace=a.workspace,
        name=name,
        name_key=name.casefold(),
        kind="appointment",
        duration_minutes=60,
        step_minutes=60,
        **{"price": Decimal(40), **values},
    )
    kim, _ = Staff.objects.get_or_create(workspace=a.workspace, name="Kim", name_key="kim")
    ServiceStaff.objects.create(service=service, staff=kim)
    return service


def ten_o_clock(days: int = 1) -> datetime:
    return datetime.combine(date.today() + timedelta(days=days), datetime.min.time(), UTC) + timedelta(hours=10)


def booked(a: Tenant, service: Service, days: int = 1, **changes: Any) -> Appointment:
    contact = changes.pop("contact", None) or Contact.objects.get()
    return book_appointment(
        workspace=a.workspace,
        service=service,
        contact=contact,
        starts_at=changes.pop("starts_at", ten_o_clock(days)),
        now=now(),
        by=SYSTEM,
        source="dashboard",
    )


def offered() -> list[str]:
    content: dict[str, Any] = Message.objects.filter(direction="out").latest("pk").details
    return content  # type: ignore[return-value]


def test_a_contact_books_a_time_by_its_number(a: Tenant) -> None:
    a_service(a)
    on(a, BOOK)
    say(a, "book")
    assert sent() == ["When would you like to come?"]
    print(offered())
    say(a, "2", at=moment(1))
    appointment = Appointment.objects.get()
    assert sent()[1].startswith("See you on")
    assert (appointment.source, appointment.contact, appointment.status) == ("automation", Contact.objects.get(), "booked")
    run = AutomationRun.objects.get()
    assert (run.status, InternalCall.objects.count()) == ("completed", 0)
    assert list(run.steps.order_by("seq").values_list("node", "port")) == [
        ("book", ""),
        ("book", ""),
        ("book", ""),
        ("book", "booked"),
        ("thanks", ""),
    ]

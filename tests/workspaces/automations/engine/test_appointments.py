"""Runs book and change appointments, remind of them, and ask for payments; whatever is taken or moved meanwhile."""

from datetime import datetime, timedelta
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
from workspaces.appointments.models import Appointment, TimeOff
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
    a_step(
        "book", "book_appointment", {"booked": "thanks", "not_booked": "sorry"}, text="When would you like to come?"
    ),
    a_step(
        "thanks", "send_text", text="See you on {{appointment.date}} at {{appointment.time}}: {{appointment.service}}."
    ),
    a_step("sorry", "send_text", text="A colleague will write to you."),
    keywords=["book"],
)


def a_service(a: Tenant, name: str = "Haircut", **values: Any) -> Service:
    """A service of an hour, for which Kim works from nine to five on every day, from tomorrow on."""
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
    TimeOff.objects.get_or_create(staff=kim, starts_at=midnight(-1), ends_at=midnight(1))
    ServiceStaff.objects.create(service=service, staff=kim)
    return service


def midnight(days: int) -> datetime:
    """The beginning of a day, so many days after the one on which the tests began."""
    return moment().replace(hour=0, minute=0, second=0) + timedelta(days=days)


def ten_o_clock(days: int = 1) -> datetime:
    return midnight(days) + timedelta(hours=10)


def speaks_english(a: Tenant) -> None:
    """Make the contact one who writes English: its number is a German one."""
    say(a, "hi there")
    Contact.objects.update(attributes={"language": "en"})


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
    """The titles of the latest list or buttons."""
    details: dict[str, Any] = Message.objects.filter(direction="out").latest("pk").details
    return [option["title"] for option in details["interactive"]["options"]]


def free_from_day(a: Tenant, day: int) -> datetime:
    """Let the first free time be on this day of a month, and give the beginning of that day."""
    a_service(a, horizon_days=60)
    first = midnight(1)
    while first.day != day:
        first += timedelta(days=1)
    TimeOff.objects.update(ends_at=first)
    return first


def test_a_contact_books_a_time_by_its_number(a: Tenant) -> None:
    free_from_day(a, 16)
    on(a, BOOK)
    speaks_english(a)
    say(a, "book")
    assert sent() == ["When would you like to come?"]
    say(a, "2", at=moment(1))
    appointment = Appointment.objects.get()
    assert sent()[1].startswith("See you on")
    assert (appointment.source, appointment.contact, appointment.status) == (
        "automation",
        Contact.objects.get(),
        "booked",
    )
    run = AutomationRun.objects.get()
    assert (run.status, InternalCall.objects.count()) == ("completed", 0)
    assert list(run.steps.order_by("seq").values_list("node", "port")) == [
        ("book", ""),
        ("book", ""),
        ("book", ""),
        ("book", "booked"),
        ("thanks", "next"),
    ]


def test_a_number_that_is_also_a_day_is_read_back(a: Tenant) -> None:
    first = free_from_day(a, 1)
    on(a, BOOK)
    speaks_english(a)
    say(a, "book")
    say(a, "1", at=moment(1))
    assert not Appointment.objects.exists()
    assert f"{first:%a} 1 {first:%b}" in sent()[1]
    say(a, "yes", at=moment(2))
    assert Appointment.objects.get().starts_at == first + timedelta(hours=9)
    assert sent()[2].startswith("See you on")


def test_a_time_that_was_taken_meanwhile_is_offered_no_more(a: Tenant) -> None:
    service = a_service(a)
    on(a, BOOK)
    speaks_english(a)
    say(a, "book")
    free = offered()
    booked(a, service, starts_at=ten_o_clock(1).replace(hour=9))
    say(a, free[0], at=moment(1))
    assert sent()[1:] == ["Sorry, this time is not free. Please choose another one."]
    assert free[0] not in offered()
    say(a, offered()[0], at=moment(2))
    assert Appointment.objects.count() == 2
    assert sent()[2].startswith("See you on")


def test_a_typed_time_is_booked_and_other_times_follow(a: Tenant) -> None:
    a_service(a)
    on(a, BOOK)
    speaks_english(a)
    say(a, "book")
    first = offered()
    say(a, "Other times", at=moment(1))
    later = offered()
    assert not {*first[:-1]} & {*later}
    day = ten_o_clock(5)
    say(a, f"{day:%d %B %Y} 11:00 am", at=moment(2))
    assert f"{Appointment.objects.get().starts_at:%Y-%m-%d}" == f"{day:%Y-%m-%d}"


def test_without_a_service_the_contact_chooses_one_and_without_free_times_nothing_is_booked(a: Tenant) -> None:
    a_service(a, price=Decimal("1238.00"))
    colour = a_service(a, "Colour", price=None)
    for name in ("Beard", "Wash"):
        a_service(a, name)
    on(a, BOOK)
    say(a, "book")
    assert offered() == ["Beard", "Colour", "Haircut", "Wash"]
    written: dict[str, Any] = Message.objects.filter(direction="out").latest("pk").details
    prices = [option.get("description") for option in written["interactive"]["options"]]
    assert prices == ["40,00\N{NO-BREAK SPACE}$", None, "1.238,00\N{NO-BREAK SPACE}$", "40,00\N{NO-BREAK SPACE}$"]
    a.workspace.opening_hours = {}
    a.workspace.save(update_fields=["opening_hours"])
    say(a, "colour", at=moment(1))
    assert sent()[1:] == ["A colleague will write to you."]
    step = AutomationRun.objects.get().steps.get(port="not_booked")
    assert step.detail == "no_free_times"
    assert not colour.appointments.exists()


def test_times_beyond_the_next_month_are_found_up_to_the_horizon(a: Tenant) -> None:
    service = a_service(a, horizon_days=60)
    kim = Staff.objects.get()
    TimeOff.objects.create(staff=kim, starts_at=now(), ends_at=now() + timedelta(days=40))
    on(a, BOOK)
    say(a, "book")
    say(a, offered()[0], at=moment(1))
    assert now() + timedelta(days=40) < service.appointments.get().starts_at < now() + timedelta(days=43)


def change(how: str) -> Flow:
    """A flow that changes the contact's appointment when it writes `change`."""
    return a_flow(
        a_step("it", "change_appointment", {"done": "yes", "not_done": "no"}, change=how),
        a_step("yes", "send_text", text="Done: {{appointment.time}}"),
        a_step("no", "send_text", text="Not done."),
        keywords=["change"],
    )


def test_a_contact_confirms_moves_and_cancels_an_appointment(a: Tenant) -> None:
    service = a_service(a)
    automation = on(a, change("confirm"))
    speaks_english(a)
    appointment = booked(a, service)
    for number, (how, status) in enumerate(
        (("confirm", "confirmed"), ("reschedule", "confirmed"), ("cancel", "cancelled"))
    ):
        automation.versions.filter(number=2 + number).delete()
        version = automation.versions.create(number=2 + number, flow=change(how))
        type(automation).objects.filter(pk=automation.pk).update(published=version)
        say(a, "change", at=moment(2 * number + 1))
        if how == "reschedule":
            assert sent()[-1] == "Which time suits you? You can also write a day and a time."
            say(a, offered()[2], at=moment(2 * number + 2))
        was = appointment.starts_at
        appointment.refresh_from_db()
        assert (appointment.status, appointment.starts_at != was) == (status, how == "reschedule")
        assert sent()[-1].startswith("Done: ")
    say(a, "change", at=moment(9))
    assert sent()[-1] == "Not done."


NEAR = a_flow(
    a_step("remind", "send_text", text="Until {{appointment.date}}, {{appointment.staff}} waits for you."),
    trigger="appointment_near",
    hours=48,
)


def pass_time(**how_much: float) -> None:
    """Let reminders become due as if so much time had passed."""
    for one in AppointmentReminder.objects.all():
        AppointmentReminder.objects.filter(pk=one.pk).update(due_at=one.due_at - timedelta(**how_much))
    remind()
    remind()
    run_due()


def test_a_reminder_follows_the_appointment_and_comes_once(a: Tenant) -> None:
    service = a_service(a)
    say(a, "hi")
    early = booked(a, service, days=4)
    automation = on(a, NEAR)
    type(automation).objects.filter(pk=automation.pk).update(enabled=False)
    automation.refresh_from_db()
    enable_automation(automation=automation, now=now(), by=SYSTEM)
    assert AppointmentReminder.objects.get().due_at == early.starts_at - timedelta(hours=48)
    moved = reschedule_appointment(appointment=early, starts_at=ten_o_clock(6), now=now(), by=SYSTEM)
    late = booked(a, service, days=3)
    too_soon = booked(a, service, starts_at=ten_o_clock(1).replace(hour=9))
    due = dict(AppointmentReminder.objects.values_list("appointment", "due_at"))
    assert due == {one.pk: one.starts_at - timedelta(hours=48) for one in (moved, late)}
    assert too_soon.pk not in due
    cancel_appointment(appointment=late, now=now(), by=SYSTEM)
    pass_time(days=3)
    assert sent() == []
    for _ in range(3):
        pass_time(days=1)
    assert len(sent()) == 1
    assert AutomationRun.objects.get().subject == str(moved.uuid)
    assert not AppointmentReminder.objects.exists()


def test_a_wait_for_an_appointment_moves_with_it_and_ends_with_its_cancellation(a: Tenant) -> None:
    service = a_service(a)
    wait = a_step("wait", "wait_until", {"next": "text"}, moment="before_appointment", hours=3)
    on(a, a_flow(wait, a_step("text", "send_text", text="Soon!"), trigger="appointment_booked"))
    say(a, "hi")
    first, second = booked(a, service, days=2), booked(a, service, days=3)
    run_due()
    assert AutomationRun.objects.filter(status="waiting").count() == 2
    reschedule_appointment(appointment=first, starts_at=ten_o_clock(4), now=now(), by=SYSTEM)
    cancel_appointment(appointment=second, now=now(), by=SYSTEM)
    run_due()
    waiting = AutomationRun.objects.get(status="waiting")
    assert (waiting.subject, waiting.wait_until) == (str(first.uuid), ten_o_clock(4) - timedelta(hours=3))
    ended = AutomationRun.objects.get(status="completed")
    assert ended.steps.latest("seq").detail == "appointment_cancelled"
    assert sent() == []


def test_a_payment_goes_on_with_the_run_that_asked_for_it_and_starts_others(a: Tenant) -> None:
    a.workspace.currency = "EUR"
    a.workspace.save(update_fields=["currency"])
    ask = a_step(
        "pay", "payment_link", {"paid": "yes", "not_paid": "no"}, text="Please pay.", pays="amount", amount=12.5
    )
    on(
        a,
        a_flow(
            ask, a_step("yes", "send_text", text="Thank you!"), a_step("no", "send_text", text="No?"), keywords=["pay"]
        ),
    )
    on(
        a,
        a_flow(a_step("it", "send_text", text="We got {{payment.amount}}."), trigger="payment_received"),
        name="Other",
    )
    say(a, "pay")
    invoice = Invoice.objects.get()
    assert (invoice.status, invoice.total) == ("open", 1_250)
    assert sent() == [f"Please pay.\n{invoice.pay_url}"]
    for amount, language in ((250, "de"), (1_000, "Deutsch")):
        Contact.objects.update(attributes={"language": language})
        invoice.refresh_from_db()
        assert "Thank you!" not in sent()
        record_payment(invoice=invoice, amount=amount, method="cash", now=now(), by=SYSTEM)
        run_due()
    texts = sent()[1:]
    assert texts.count("Thank you!") == 1
    assert {"We got 2,50\N{NO-BREAK SPACE}€.", "We got 10,00\N{NO-BREAK SPACE}€."} < set(texts)
    assert len(texts) == 3


def test_a_run_ends_when_its_contact_books_in_another_way(a: Tenant) -> None:
    service = a_service(a)
    ask = a_step("ask", "ask_question", {"no_answer": "again"}, text="When?", expects="text", save_as="day")
    on(a, a_flow(ask, a_step("again", "send_text", text="Still there?")), stops_on_booking=True)
    say(a, "hello")
    booked(a, service)
    run_due()
    run = AutomationRun.objects.get()
    assert (run.status, TriggerEvent.objects.latest("pk").kind) == ("stopped", "appointment_booked")

"""A contact's page: what is known of them, and what happened, from every app, the newest first."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import text
from tests.broadcasts.under_way import a_broadcast, a_recipient
from tests.factories import ChannelFactory, ClassSessionFactory, ContactFactory, ServiceFactory
from tests.factories.appointments import AppointmentFactory
from tests.factories.finance import a_line, an_issued_invoice
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.automations.runs import a_run
from tests.workspaces.conversations.facts import moment, receive, received
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.classes.services import add_participant, join_waiting_list
from workspaces.contacts.models import Contact
from workspaces.contacts.services import opt_out_contact, update_contact
from workspaces.contacts.services.tasks import complete_task, create_task
from workspaces.conversations.models import Message
from workspaces.finance.services.payments import record_payment

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
TITLE = re.compile(r'<div class="timeline-head"><span>(?:<a[^>]*>)?([^<]*)<')


@pytest.fixture
def customer(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


@pytest.fixture
def ada(a: Tenant) -> Contact:
    """Somebody who has written, a minute after she was added."""
    receive(received(a.channel, text="<b>Hello</b>"))
    contact = Contact.objects.get(workspace=a.workspace, phone="+4915112345001")
    Contact.objects.filter(pk=contact.pk).update(name="Ada", created_at=moment(-60))
    return contact


def page_of(contact: Contact, query: str = "") -> str:
    return f"/app/contacts/{contact.uuid}{query}"


def titles(browser: Client, address: str) -> list[str]:
    return TITLE.findall(browser.get(address).content.decode())


def test_the_timeline_joins_what_every_app_knows(customer: Client, a: Tenant, ada: Contact) -> None:
    other = ContactFactory.create(workspace=a.workspace)
    sale = a_broadcast(channel=a.channel)
    a_recipient(sale, contact=ada, status="delivered", sent_at=moment(30))
    a_recipient(a_broadcast(channel=a.channel, name="Skipped"), contact=ada, status="skipped", address=None)
    a_recipient(sale, contact=other, sent_at=moment(31))
    booked = AppointmentFactory.create(workspace=a.workspace, contact=ada)
    type(booked).objects.filter(pk=booked.pk).update(created_at=moment(60))
    run = a_run(an_automation(a.workspace, name="Welcome"), ada, channel=a.channel)
    type(run).objects.filter(pk=run.pk).update(started_at=moment(90))
    task = create_task(workspace=a.workspace, title="Call", contact=ada, now=now(), by=SYSTEM)
    complete_task(task=task, now=moment(120), by=SYSTEM)
    opt_out_contact(contact=ada, source=Contact.OptOutSource.DASHBOARD, now=moment(150))
    page = page_of(ada)
    assert titles(customer, page) == [
        "Opted out",
        "Done: Call",
        "Automation: Welcome",
        f"Appointment booked: {booked.service.name}",
        "Broadcast: Autumn sale",
        "Message received",
        "Contact added",
    ]
    shown = customer.get(page)
    assert "&lt;b&gt;Hello&lt;/b&gt;" in shown.content.decode()
    assert f'href="/app/broadcasts/{sale.uuid}"' in shown.content.decode()
    assert "Delivered" in text(shown)
    assert sorted(titles(customer, page_of(other))) == ["Broadcast: Autumn sale", "Contact added"]


def test_the_timeline_shows_classes_money_and_who_changed_the_contact(
    customer: Client, a: Tenant, ada: Contact, b: Tenant
) -> None:
    yoga = ServiceFactory.create(workspace=a.workspace, kind="class", name="Yoga")
    full, left = (ClassSessionFactory.create(workspace=a.workspace, service=yoga, capacity=1) for _ in range(2))
    other = ContactFactory.create(workspace=a.workspace)
    add_participant(session=full, contact=other, now=now())
    join_waiting_list(session=full, contact=ada, now=moment(10))
    add_participant(session=left, contact=ada, now=now())
    customer.post(f"/app/classes/{left.uuid}/participants/{ada.uuid}/remove")
    add_participant(session=left, contact=ada, now=moment(20))
    invoice = an_issued_invoice(a.workspace, contact=ada, lines=[a_line("50")])
    record_payment(invoice=invoice, amount=5000, method="cash", now=moment(40), by=SYSTEM)
    sent = {"name": "Ada L.", "phone": ada.phone or "", "email": "ada@example.com", "tags": "VIP"}
    for _ in range(2):
        assert customer.post(page_of(ada), sent).status_code == 302
    shown = customer.get(page_of(ada))
    found = titles(customer, page_of(ada))
    assert sorted(found) == sorted(
        [
            "Contact changed",
            "Seat in a class removed: Yoga",
            "Payment received",
            f"Invoice issued: {invoice.number}",
            "Seat in a class: Yoga",
            "Waits for: Yoga",
            "Message received",
            "Contact added",
        ]
    )
    assert re.search(
        r"Contact changed just now Name, E-mail, Tags, Time zone, Country mark-\w+@example.com", text(shown)
    )
    [entry] = ActivityEntry.objects.filter(action="contact.updated")
    assert set(entry.changes.values()) == {None}
    assert "Ada" not in f"{entry.target_name}{entry.details}"
    for one in range(3):
        session = ClassSessionFactory.create(workspace=a.workspace, service=yoga)
        add_participant(session=session, contact=ada, now=moment(one))
        customer.post(page_of(ada), {**sent, "tags": f"VIP {one}"})
    with CaptureQueriesContext(connection) as many:
        customer.get(page_of(ada))
    with CaptureQueriesContext(connection) as few:
        customer.get(page_of(ContactFactory.create(workspace=a.workspace)))
    assert len(many) - len(few) <= 4  # what does not grow: labels and the panels' second statements


def test_pages_of_the_timeline_leave_nothing_out_and_cost_the_same(customer: Client, a: Tenant, ada: Contact) -> None:
    page = page_of(ada)
    customer.get(page)
    with CaptureQueriesContext(connection) as few:
        assert len(titles(customer, page)) == 2
    # Networks tell whole seconds: several messages of one second stay on one page.
    receive(*(received(a.channel, text=f"Message {number}", at=moment(1 + number // 4)) for number in range(58)))
    with CaptureQueriesContext(connection) as many:
        first = customer.get(page)
    assert len(many) == len(few)
    found: list[str] = []
    for _ in range(5):
        shown = first.content.decode()
        found += re.findall(r"<p>(Message \d+)</p>", shown)
        older = re.search(r'rel="next" href="([^"]*)#timeline"', shown)
        if older is None:
            break
        first = customer.get(page + older[1].replace("&amp;", "&"))
    assert sorted(found) == sorted({f"Message {number}" for number in range(58)})
    assert "Newest" in text(first)
    assert "Contact added" in text(first)
    for strange in ("soon", "0001-01-01T00:00:00Z", "2026-01-01"):
        assert customer.get(page_of(ada, f"?before={strange}")).status_code == 200
    assert "Nothing is older than this." in text(customer.get(page_of(ada, "?before=1990-01-01T00:00:00Z")))


def test_a_contact_on_two_channels_has_both_in_the_timeline(customer: Client, a: Tenant, ada: Contact) -> None:
    second = ChannelFactory.create(workspace=a.workspace)
    receive(received(second, text="From the second", at=moment(5)))
    assert Message.objects.filter(workspace_id=a.workspace.pk).count() == 2
    assert titles(customer, page_of(ada)) == ["Message received", "Message received", "Contact added"]


def test_what_is_known_comes_first_and_the_form_is_folded(customer: Client, a: Tenant, ada: Contact) -> None:
    details = {f"detail {number}": str(number) for number in range(9)}
    update_contact(contact=ada, now=now(), email="ada@example.com", tags=["VIP & more"], attributes=details)
    page = page_of(ada)
    shown = customer.get(page).content.decode()
    assert 'href="/app/contacts?tag=VIP%20%26%20more"' in shown
    assert "All details (9)" in shown
    assert shown.index('id="summary"') < shown.index('id="edit"') < shown.index('id="timeline"')
    assert '<details class="panel fold" id="edit">' in shown
    refused = customer.post(page, {"name": "Ada", "email": "nobody"})
    assert refused.status_code == 422
    assert '<details class="panel fold" id="edit" open>' in refused.content.decode()

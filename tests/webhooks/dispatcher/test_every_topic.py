"""Every topic that workspaces may subscribe to arrives at a receiver, fired by the code that makes the change.

What arrives is held against the published document as it comes in (`tests.config.http.receivers`).
"""

import json
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.event_types import event_types
from agency.tenants import Audience
from broadcasts.models import Recipient, Stage
from broadcasts.services.progress import PreparationLoop
from broadcasts.services.tracked_links import tracked_link
from broadcasts.tasks import count_clicks
from channelconnect.inbox.claims import store_notice
from channelconnect.inbox.reading import read_waiting
from channelconnect.services.templates import sync_next, sync_soon
from tests.channelconnect.inbox.notices import whatsapp
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import BUSINESS, NUMBERS, a_channel
from tests.config.http.receivers import Received
from tests.factories import ChannelFactory, ClassSessionFactory, ContactFactory
from tests.factories.appointments import a_bookable_service, move_to_the_past, tomorrow
from tests.factories.finance import InvoiceFactory, an_issued_invoice
from tests.factories.flows import a_catch_all
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.workspaces import subscribe_workspace
from tests.workspaces.automations.runs import an_ended_run
from tests.workspaces.conversations.facts import apply, receive, received, status, the_conversation
from tests.workspaces.conversations.sending import record, send, sent
from tools.sandbox import RunningSandbox
from workspaces.appointments.models import Appointment
from workspaces.automations.services import disable_automation, enable_automation, publish_automation
from workspaces.automations.services.run_failures import record_run_failures
from workspaces.classes.models import ClassSession
from workspaces.classes.services import complete_ended_classes
from workspaces.contacts.models import Contact
from workspaces.conversations.facts import Person
from workspaces.conversations.services import inbound
from workspaces.finance.services.invoices import issue_invoice
from workspaces.finance.services.recording import report_overdue_invoices
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import disconnect_channel, reconnect_channel

pytestmark = pytest.mark.django_db(transaction=True)
# Where it is not the topic's first word.
RESOURCES = {
    "automation.run_failed": "run",
    "contact.import_completed": "contact_import",
    "broadcast.recipient_failed": "recipient",
    "broadcast.recipient_skipped": "recipient",
    "broadcast.link_clicked": "recipient",
}
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Safari/604.1"


def topics() -> list[str]:
    return [one.name for one in event_types if one.audience is Audience.WORKSPACE]


def made(a: Tenant, path: str, **fields: Any) -> dict[str, Any]:
    answer = a.workspace_api.post(path, fields)
    assert answer.status_code in (200, 201), answer.content
    data: dict[str, Any] = answer.json()["data"]
    return data


def change_people(a: Tenant) -> None:
    contact = made(a, "/contacts", name="Ada", tags=["VIP"])
    own = f"/contacts/{contact['id']}"
    moves: list[dict[str, Any]] = [{"tags": ["VIP", "new"]}, {"tags": []}, {"opted_out": True}, {"opted_out": False}]
    for changes in moves:
        a.workspace_api.patch(own, changes)
    a.workspace_api.delete(own)
    a.workspace_api.post("/contacts/import", {"contacts": [{"phone": "+4930123456"}]})
    segment = made(a, "/segments", name="Regulars", filter={"country": "DE"})
    a.workspace_api.patch(f"/segments/{segment['id']}", {"name": "Germans"})
    a.workspace_api.delete(f"/segments/{segment['id']}")


def talk(a: Tenant) -> None:
    receive(received(a.channel))
    own = f"/conversations/{the_conversation().uuid}"
    a.workspace_api.patch(own, {"assigned_to": a.workspace.owner.email, "status": "closed"})
    receive(received(a.channel, text="One more thing"))
    a.workspace_api.post(f"{own}/notes", {"text": "Regular guest"})
    message = sent(a)
    told = message.provider_message_id or ""
    apply(inbound.apply_statuses, *[status(a.channel, told, to) for to in ("delivered", "read")])
    record(send(a, "Another"), "failed", error_code="131026", error_message="Cannot be reached.")


def tell(field: str, **value: Any) -> None:
    """Say something of the account, as the provider's callback does."""
    moment = str(int(time.time()) + 1).encode()
    assert store_notice(body=whatsapp(field, value, BUSINESS).replace(b"1790000000", moment))
    read_waiting()


def change_channels(a: Tenant, meta: RunningSandbox) -> None:
    number = a_channel(a.workspace, meta)
    assert sync_next(now=now())
    for name, state in (("waiting", "APPROVED"), ("hello", "REJECTED"), ("order_ready", "PAUSED")):
        meta.control("POST", "template", {"business": BUSINESS, "name": name, "status": state})
    sync_soon([BUSINESS], now=now())
    assert sync_next(now=now())
    tell("business_capability_update", max_daily_conversation_per_phone=250)
    tell("account_update", event="PARTNER_REMOVED")
    disconnect_channel(channel=number, now=now(), by=SYSTEM)
    reconnect_channel(
        channel=number, name="Back", handle="+1", messaging_limit=50, quality="GREEN", now=now(), by=SYSTEM
    )


def change_offers(a: Tenant) -> None:
    product = made(a, "/products", name="Oil", price=9.5, track_stock=True, stock_quantity=3)
    a.workspace_api.patch(f"/products/{product['id']}", {"stock_quantity": 0})
    service = made(a, "/services", name="Dance", kind="class", duration_minutes=60)
    a.workspace_api.patch(f"/services/{service['id']}", {"name": "Tango"})
    host = made(a, "/staff", name="Host")
    a.workspace_api.patch(f"/staff/{host['id']}", {"name": "Hostess"})
    change_classes(a, service["id"])
    spare = made(a, "/services", name="Spare", kind="appointment")
    for path in (f"/products/{product['id']}", f"/services/{spare['id']}", f"/staff/{host['id']}"):
        assert a.workspace_api.delete(path).status_code < 300


def change_classes(a: Tenant, service: str) -> None:
    contact = made(a, "/contacts", name="Guest")
    held = made(a, "/classes", service=service, starts_at="2030-01-01T10:00:00Z", capacity=1)
    a.workspace_api.post(f"/classes/{held['id']}/participants", {"contact": contact["id"]})
    a.workspace_api.delete(f"/classes/{held['id']}/participants/{contact['id']}")
    a.workspace_api.post(f"/classes/{held['id']}/cancel")
    over = ClassSessionFactory.create(workspace=a.workspace)
    ended_at = now() - timedelta(days=1)
    ClassSession.objects.filter(pk=over.pk).update(starts_at=ended_at - timedelta(hours=1), ends_at=ended_at)
    assert complete_ended_classes(now=now()) == 1


def bill(a: Tenant) -> None:
    """Send an invoice and have it paid, void another, and let a third one's due time pass."""
    contact = ContactFactory.create(workspace=a.workspace, email="buyer@example.com")
    paid, void = (an_issued_invoice(a.workspace, contact=contact) for _ in range(2))
    made(a, f"/invoices/{paid.uuid}/send")
    payment = made(a, f"/invoices/{paid.uuid}/payments", amount=100, method="cash")
    made(a, f"/payments/{payment['id']}/refunds", amount=1)
    made(a, f"/invoices/{void.uuid}/void")
    draft = InvoiceFactory.create(workspace=a.workspace, contact=contact)
    issue_invoice(invoice=draft, now=now() - timedelta(days=30), by=SYSTEM)
    assert report_overdue_invoices(now=now()) == 1


def change_appointments(a: Tenant) -> None:
    service, contact = a_bookable_service(a.workspace, step_minutes=30), made(a, "/contacts", name="Client")
    moves: tuple[tuple[str, ...], ...] = (("confirm", "reschedule"), ("cancel",), ("complete",), ("miss",))
    for hour, names in zip((9, 11, 13, 15), moves, strict=True):
        starts_at = tomorrow(hour).isoformat()
        booked = made(a, "/appointments", service=str(service.uuid), contact=contact["id"], starts_at=starts_at)
        if names[0] in ("complete", "miss"):
            move_to_the_past(Appointment.objects.get(uuid=booked["id"]))
        for name in names:
            made(a, f"/appointments/{booked['id']}/{name}", starts_at=tomorrow(hour, 30).isoformat())


def switch_automations(a: Tenant) -> None:
    channel = ChannelFactory.create(workspace=a.workspace, platform="whatsapp")
    automation = an_automation(a.workspace, flow=a_catch_all(), name="Welcome")
    automation = publish_automation(automation=automation, now=now(), by=SYSTEM)
    enable_automation(automation=automation, now=now(), by=SYSTEM)
    disable_automation(automation=automation, now=now(), by=SYSTEM)
    run = an_ended_run(automation, Contact.objects.of(a.workspace).latest("id"), channel=channel, status="failed")
    with transaction.atomic():
        record_run_failures([run.pk], now())


def people_of(a: Tenant, channel: Channel) -> list[str]:
    """Three who wrote to a number lately: one of them cannot be reached any more, and one has opted out."""
    digits = ("4917000000001", "4917000131026", "4917000000003")
    receive(*(received(channel, person=Person(external_id=one, phone=f"+{one}", name=one), at=now()) for one in digits))
    Contact.objects.filter(phone=f"+{digits[2]}").update(opted_out_at=now(), opt_out_source="api")
    return [str(uuid) for uuid in Contact.objects.filter(name__in=digits).values_list("uuid", flat=True)]


def broadcast(a: Tenant, meta: RunningSandbox, start_sender: StartSender) -> None:
    channel = a_channel(a.workspace, meta, external_id=NUMBERS[1])
    asked = {
        "channel": str(channel.uuid),
        "audience": {"type": "contacts", "contacts": people_of(a, channel)},
        "message": {"text": "New: https://shop.example/sale"},
    }

    def move(shown: dict[str, Any], *names: str) -> None:
        for name in names:
            made(a, f"/broadcasts/{shown['id']}/{name}")

    draft = made(a, "/broadcasts", name="Draft", **asked)
    a.workspace_api.patch(f"/broadcasts/{draft['id']}", {"name": "Renamed"})
    a.workspace_api.delete(f"/broadcasts/{draft['id']}")
    move(made(a, "/broadcasts", name="Cancelled", **asked, schedule=True), "cancel")
    begun = made(a, "/broadcasts", name="Sale", **asked, schedule=True, requires_approval=True)
    move(begun, "approve")
    preparation = PreparationLoop()
    while preparation.go_on():
        pass
    move(begun, "pause", "resume")
    start_sender()
    assert until(lambda: not Recipient.objects.exclude(stage=Stage.DONE).exists())
    preparation.look()
    reached = Recipient.objects.get(sent_at__isnull=False, failed_at=None)
    link = tracked_link("", reached.broadcast_id, reached.contact_id, 0)
    assert Client().get(link, HTTP_USER_AGENT=PHONE).status_code == 302
    count_clicks()


def envelope_of(request: Received) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(request.body)
    return found


def test_every_topic_is_fired_by_a_change_and_delivered(
    a: Tenant,
    meta: RunningSandbox,
    start_receiver: StartReceiver,
    start_sender: StartSender,
    start_dispatcher: StartDispatcher,
) -> None:
    receiver, wanted = start_receiver(), set(topics())
    subscribe_workspace(a.workspace, receiver, *wanted)
    change_people(a)
    talk(a)
    change_offers(a)
    change_appointments(a)
    bill(a)
    switch_automations(a)
    broadcast(a, meta, start_sender)
    change_channels(a, meta)
    start_dispatcher()

    def arrived() -> set[str]:
        return {envelope_of(request)["event"] for request in list(receiver.requests)}

    until(lambda: arrived() == wanted, what=f"some of {sorted(wanted)}")
    envelopes = [envelope_of(request) for request in receiver.requests]
    assert {one["workspace_id"] for one in envelopes} == {str(a.workspace.uuid)}
    agents = {request.headers["user-agent"] for request in receiver.requests}
    assert agents == {"Svc-Workspace-Webhooks/1.0"}
    for one in envelopes:
        resource = one["event"].partition(".")[0]
        assert RESOURCES.get(one["event"], resource) in one["data"], one["event"]
    assert until(lambda: len(receiver.requests) >= len(wanted))

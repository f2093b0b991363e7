"""Every page of the dashboard, with what its workspace's owner is answered there."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from uuid import UUID, uuid4

from django.urls import reverse
from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.services.settings import let_customers_connect, switch_connect
from packs.library import library
from packs.services import add_library_entry, change_pack, create_pack, install_pack
from tests.broadcasts.under_way import a_broadcast, a_draft
from tests.factories import (
    ClassSessionFactory,
    ContactFactory,
    ContactImportFactory,
    SegmentFactory,
    StaffFactory,
    WorkspaceMemberFactory,
    a_workspace_key,
    catalogue_ids,
)
from tests.factories.appointments import AppointmentFactory, a_time_off
from tests.factories.finance import InvoiceFactory, TaxRateFactory, a_payout, an_issued_invoice
from tests.packs.client import an_automation, put_behind
from tests.tenants import Tenant
from tests.workspaces.automations.runs import a_run
from tests.workspaces.conversations.facts import a_conversation
from webhooks.models import Endpoint
from webhooks.pages.deliveries import sign_redelivery
from webhooks.services.deliveries import ReplayResult, send_test
from webhooks.services.endpoints import register_endpoint
from workspaces.appointments.services.booking_pages import change_booking_page
from workspaces.appointments.services.calendar_feeds import create_feed
from workspaces.appointments.services.external_calendars import add_calendar
from workspaces.classes.models import WaitingListEntry
from workspaces.contacts.services.tasks import create_task
from workspaces.conversations.models import Message
from workspaces.conversations.services import Content, create_saved_reply, send_message
from workspaces.finance.services.payments import record_payment
from workspaces.subaccounts.services import invite_workspace_member, tenant_of

Ids = Callable[[Tenant], list[Any]]


def no_ids(_: Tenant) -> list[UUID]:
    return []


def guide(_: Tenant) -> list[Any]:
    return ["contacts"]


def automation(tenant: Tenant) -> list[UUID]:
    return [an_automation(tenant.workspace, name=f"Automation {tenant.mark}").uuid]


def automation_with_new_version(tenant: Tenant) -> list[UUID]:
    """An automation of one of the service's own packs, which has a newer version by now."""
    _ = tenant.channel
    pack = library().packs[0]
    install_pack(workspace=tenant.workspace, pack=pack.uuid, now=now(), by=SYSTEM)
    made = tenant.workspace.automations.filter(from_pack=pack.uuid).latest("pk")
    put_behind(made)
    return [made.uuid]


def run(tenant: Tenant) -> list[UUID]:
    made = an_automation(tenant.workspace, name=f"Automation {tenant.mark}")
    return [made.uuid, a_run(made, tenant.contact, channel=tenant.channel).uuid]


def automation_step(tenant: Tenant) -> list[Any]:
    return [*automation(tenant), "greet"]


def automation_place(tenant: Tenant) -> list[Any]:
    return [*automation(tenant), "greet", "next"]


def channel(tenant: Tenant) -> list[UUID]:
    return [tenant.channel.uuid]


def may_connect(tenant: Tenant) -> list[UUID]:
    switch_connect(agency=tenant.agency, enabled=True, reason="Asked for it", by=SYSTEM)
    let_customers_connect(agency=tenant.agency, allowed=True, by=SYSTEM)
    return []


def api_key(tenant: Tenant) -> list[UUID]:
    return [a_workspace_key(tenant.workspace, name=f"Key {tenant.mark}")[0].uuid]


def own_endpoint(tenant: Tenant) -> Endpoint:
    url = f"https://93.184.215.14/{tenant.mark}"
    return register_endpoint(tenant=tenant_of(tenant.workspace), url=url, events=["product.updated"], by=SYSTEM)


def webhook(tenant: Tenant) -> list[UUID]:
    return [own_endpoint(tenant).uuid]


def delivery(tenant: Tenant) -> list[UUID]:
    return [send_test(endpoint=own_endpoint(tenant), event="product.updated", now=now(), by=SYSTEM).uuid]


def redelivery(tenant: Tenant) -> list[Any]:
    return [sign_redelivery(tenant_of(tenant.workspace), ReplayResult(1, 0, 1), now())]


def contact(tenant: Tenant) -> list[UUID]:
    return [ContactFactory.create(workspace=tenant.workspace, name=f"Contact {tenant.mark}").uuid]


def contact_import(tenant: Tenant) -> list[UUID]:
    return [ContactImportFactory.create(workspace=tenant.workspace, filename=f"{tenant.mark}.csv").uuid]


def task(tenant: Tenant) -> list[UUID]:
    made = create_task(workspace=tenant.workspace, title=f"Task {tenant.mark}", now=now(), by=SYSTEM)
    return [made.uuid]


def segment(tenant: Tenant) -> list[UUID]:
    return [SegmentFactory.create(workspace=tenant.workspace, name=f"Segment {tenant.mark} {uuid4()}").uuid]


def conversation(tenant: Tenant) -> list[UUID]:
    return [a_conversation(tenant.channel).uuid]


def draft(tenant: Tenant) -> list[UUID]:
    return [a_draft(tenant.channel, name=f"Broadcast {tenant.mark}").uuid]


def broadcast(tenant: Tenant) -> list[UUID]:
    return [a_broadcast(channel=tenant.channel, name=f"Broadcast {tenant.mark}").uuid]


def saved_reply(tenant: Tenant) -> list[UUID]:
    name, by = f"Reply {tenant.mark} {uuid4()}", SYSTEM
    return [create_saved_reply(workspace=tenant.workspace, name=name[:60], text="Hello", now=now(), by=by).uuid]


def conversation_and_reply(tenant: Tenant) -> list[UUID]:
    return [*conversation(tenant), *saved_reply(tenant)]


def conversation_and_failure(tenant: Tenant) -> list[UUID]:
    held = a_conversation(tenant.channel)
    message = send_message(conversation=held, content=Content(text="Hello"), by=SYSTEM, now=now())
    Message.objects.filter(pk=message.pk).update(status="failed", error_code="131026")
    return [held.uuid, message.uuid]


def invitation(tenant: Tenant) -> list[UUID]:
    email = f"{uuid4()}@example.com"
    made = invite_workspace_member(workspace=tenant.workspace, email=email, name=tenant.mark, now=now(), by=SYSTEM)
    return [made.uuid]


def member(tenant: Tenant) -> list[UUID]:
    return [WorkspaceMemberFactory.create(workspace=tenant.workspace).uuid]


def booking_page(tenant: Tenant) -> list[UUID]:
    """A booking page that is on. Its address is the same for every workspace."""
    change_booking_page(workspace=tenant.workspace, now=now(), by=SYSTEM, enabled=True)
    return []


def pack(tenant: Tenant) -> list[UUID]:
    pack = create_pack(agency=tenant.agency, name=f"Pack {tenant.mark}", by=SYSTEM)
    add_library_entry(pack=pack, template_id=an_item(), by=SYSTEM)
    change_pack(pack=pack, status="published", by=SYSTEM)
    return [pack.uuid]


def an_item() -> str:
    return next(iter(library().items))


def draft_invoice(tenant: Tenant) -> list[UUID]:
    return [InvoiceFactory.create(workspace=tenant.workspace, note=f"Note {tenant.mark}").uuid]


def issued_invoice(tenant: Tenant) -> list[UUID]:
    contact = ContactFactory.create(workspace=tenant.workspace, email=f"{uuid4()}@example.com")
    return [an_issued_invoice(tenant.workspace, contact=contact).uuid]


def payout(tenant: Tenant) -> list[UUID]:
    return [a_payout(tenant.workspace).uuid]


def payment(tenant: Tenant) -> list[UUID]:
    invoice = an_issued_invoice(tenant.workspace)
    return [record_payment(invoice=invoice, amount=500, method="cash", now=now(), by=SYSTEM).uuid]


def tax_rate(tenant: Tenant) -> list[UUID]:
    return [TaxRateFactory.create(workspace=tenant.workspace, name=f"Tax {uuid4()}").uuid]


@cache
def offered(*names: str) -> Ids:
    """The ids of what the workspace offers, by their names in `catalogue_ids`."""

    def ids(tenant: Tenant) -> list[UUID]:
        made = catalogue_ids(tenant.workspace, f"{tenant.mark} {uuid4()}")
        return [made[name] for name in names]

    return ids


def waiting(tenant: Tenant) -> list[UUID]:
    """The ids of a class, and of a contact who waits for a seat."""
    session = ClassSessionFactory.create(workspace=tenant.workspace)
    contact = ContactFactory.create(workspace=tenant.workspace, name=f"Waits {uuid4()}")
    WaitingListEntry.objects.create(session=session, contact=contact)
    return [session.uuid, contact.uuid]


def appointment(tenant: Tenant) -> list[UUID]:
    contact = ContactFactory.create(workspace=tenant.workspace, name=f"Contact {tenant.mark}")
    return [AppointmentFactory.create(workspace=tenant.workspace, contact=contact).uuid]


def time_off(tenant: Tenant) -> list[UUID]:
    staff = StaffFactory.create(workspace=tenant.workspace)
    return [staff.uuid, a_time_off(staff).uuid]


def external_calendar(tenant: Tenant) -> list[UUID]:
    staff, address = StaffFactory.create(workspace=tenant.workspace), "https://93.184.215.14/own.ics"
    return [staff.uuid, add_calendar(staff=staff, name="Own", address=address, now=now(), by=SYSTEM).uuid]


def calendar_feed(tenant: Tenant) -> list[UUID]:
    """The id of a staff member whose calendar has an address."""
    return [create_feed(staff=StaffFactory.create(workspace=tenant.workspace), now=now(), by=SYSTEM).staff.uuid]


@dataclass(frozen=True)
class PageCase:
    """What the owner's GET and POST are answered with; 405 means that the method is not there, 302 that it leads on.

    `owners` says what is the owner's alone: `posts`, or `all` of it.
    """

    get: int
    post: int
    ids: Ids = no_ids
    owners: Literal["", "posts", "all"] = ""


# Answered piece by piece: no page.
EXPORTS = ("contacts-export", "broadcast-export", "finance-exports", "payout-export")
STREAMS = ("inbox-stream", "contacts-export", "contact-import-refused", "contact-import-sample", "broadcast-export")
PAGES = {
    "home": PageCase(200, 405),
    "first-steps": PageCase(302, 302),
    "saved-view-save": PageCase(302, 302),
    "saved-view-remove": PageCase(302, 302),
    "automations": PageCase(200, 405),
    "automations-ready": PageCase(200, 302),
    "automation-remove": PageCase(200, 302, automation),
    "automation-new": PageCase(200, 422),
    "automation-settings": PageCase(200, 422, automation),
    "automation-copy": PageCase(200, 422, automation),
    "automation-new-version": PageCase(200, 422, automation_with_new_version),
    "automation-edit": PageCase(200, 405, automation),
    "automation-undo": PageCase(302, 302, automation),
    "automation-redo": PageCase(302, 302, automation),
    "automation-trigger": PageCase(200, 422, automation),
    "automation-step": PageCase(200, 422, automation_step),
    "automation-step-move": PageCase(200, 422, automation_step),
    "automation-step-remove": PageCase(200, 422, automation_step),
    "automation-step-add": PageCase(200, 422, automation_place),
    "automation-connect": PageCase(200, 422, automation_place),
    "automation-test": PageCase(200, 200, automation),
    "automation-publish": PageCase(200, 422, automation),
    "prerequisites": PageCase(200, 405),
    "automation": PageCase(200, 302, automation),
    "automation-on": PageCase(302, 302, automation),
    "automation-off": PageCase(302, 302, automation),
    "automation-runs": PageCase(200, 405, automation),
    "automation-run": PageCase(200, 405, run),
    "automation-run-stop": PageCase(302, 302, run),
    "automation-run-retry": PageCase(302, 302, run),
    "channels": PageCase(200, 405),
    "channel-request": PageCase(302, 302),
    "channel-disconnect": PageCase(200, 302, channel),
    "settings": PageCase(200, 422),
    "booking-page": PageCase(200, 422),
    "booking-page-code": PageCase(200, 405, booking_page),
    "two-factor": PageCase(200, 302, owners="all"),
    "api-keys": PageCase(200, 405, owners="posts"),
    "api-key-new": PageCase(200, 422, owners="all"),
    "api-key-roll": PageCase(200, 422, api_key, owners="all"),
    "api-key-revoke": PageCase(200, 302, api_key, owners="all"),
    "webhooks": PageCase(200, 405, owners="posts"),
    "webhook-new": PageCase(200, 422, owners="all"),
    "webhook-redeliver-failed": PageCase(200, 422, owners="all"),
    "webhook": PageCase(200, 405, webhook, owners="posts"),
    "webhook-edit": PageCase(200, 422, webhook, owners="all"),
    "webhook-rotate": PageCase(200, 200, webhook, owners="all"),
    "webhook-remove": PageCase(200, 302, webhook, owners="all"),
    "webhook-dismiss": PageCase(302, 422, webhook, owners="all"),
    "webhook-test": PageCase(302, 302, webhook, owners="posts"),
    "webhook-delivery": PageCase(200, 405, delivery, owners="posts"),
    "webhook-redelivery": PageCase(200, 405, redelivery, owners="posts"),
    "webhook-redeliver": PageCase(302, 302, delivery, owners="posts"),
    "inbox": PageCase(200, 405),
    "inbox-stream": PageCase(200, 405),
    "unread": PageCase(200, 405),
    "conversation": PageCase(200, 405, conversation),
    "conversation-new": PageCase(200, 302),
    "conversations-change": PageCase(302, 302),
    "conversation-insert": PageCase(302, 200, conversation),
    "conversation-reply": PageCase(200, 405, conversation_and_reply),
    "conversation-again": PageCase(302, 302, conversation_and_failure),
    "conversation-snooze": PageCase(302, 409, conversation),
    "conversation-opt-out": PageCase(302, 302, conversation),
    "saved-replies": PageCase(200, 405),
    "saved-reply-new": PageCase(200, 422),
    "saved-reply": PageCase(200, 422, saved_reply),
    "saved-reply-delete": PageCase(200, 302, saved_reply),
    "conversation-send": PageCase(302, 422, conversation),
    "conversation-enter-key": PageCase(302, 302, conversation),
    "conversation-read": PageCase(302, 302, conversation),
    "conversation-unread": PageCase(302, 302, conversation),
    "conversation-assign": PageCase(302, 302, conversation),
    "conversation-status": PageCase(302, 302, conversation),
    "conversation-note": PageCase(302, 302, conversation),
    "conversation-resume-automations": PageCase(302, 302, conversation),
    "channel-connect": PageCase(200, 422, may_connect),
    "find": PageCase(200, 405),
    "find-suggestions": PageCase(200, 405),
    "broadcasts": PageCase(200, 405),
    "broadcast-new": PageCase(200, 422),
    "broadcast": PageCase(200, 405, broadcast),
    "broadcast-edit": PageCase(200, 422, draft),
    "broadcast-preview": PageCase(200, 405, draft),
    "broadcast-test": PageCase(200, 422, draft),
    "broadcast-recipients": PageCase(200, 405, broadcast),
    "broadcast-export": PageCase(200, 405, broadcast),
    "broadcast-schedule": PageCase(200, 422, draft),
    "broadcast-approve": PageCase(302, 302, draft),
    "broadcast-pause": PageCase(302, 302, broadcast),
    "broadcast-resume": PageCase(302, 302, broadcast),
    "broadcast-cancel": PageCase(200, 302, broadcast),
    "broadcast-delete": PageCase(200, 302, draft),
    "broadcast-duplicate": PageCase(302, 302, broadcast),
    "contacts": PageCase(200, 405),
    "contact-new": PageCase(200, 422),
    "contacts-export": PageCase(200, 405),
    "contact": PageCase(200, 422, contact),
    "contact-opt-out": PageCase(302, 302, contact),
    "contact-opt-in": PageCase(302, 302, contact),
    "contact-remove": PageCase(200, 302, contact),
    "contact-merge": PageCase(200, 404, contact),
    "contact-imports": PageCase(200, 405),
    "contact-import-new": PageCase(200, 422),
    "contact-import-sample": PageCase(200, 405),
    "contact-import": PageCase(200, 422, contact_import),
    "contact-import-cancel": PageCase(302, 302, contact_import),
    "contact-import-refused": PageCase(200, 405, contact_import),
    "tasks": PageCase(200, 405),
    "task-new": PageCase(200, 422),
    "task": PageCase(200, 422, task),
    "task-complete": PageCase(302, 302, task),
    "task-reopen": PageCase(302, 302, task),
    "task-remove": PageCase(200, 302, task),
    "segments": PageCase(200, 405),
    "segment-new": PageCase(200, 422),
    "segment": PageCase(200, 422, segment),
    "segment-remove": PageCase(200, 302, segment),
    "gallery": PageCase(200, 405),
    "products": PageCase(200, 405),
    "product-new": PageCase(200, 422),
    "product": PageCase(200, 422, offered("product")),
    "product-stock": PageCase(200, 422, offered("product")),
    "product-delete": PageCase(200, 302, offered("product")),
    "services": PageCase(200, 405),
    "service-new": PageCase(200, 422),
    "service": PageCase(200, 422, offered("service")),
    "service-delete": PageCase(200, 302, offered("service")),
    "service-categories": PageCase(200, 405),
    "service-category-new": PageCase(200, 422),
    "service-category": PageCase(200, 422, offered("category")),
    "service-category-delete": PageCase(200, 302, offered("category")),
    "finance": PageCase(200, 405),
    "finance-taxes": PageCase(200, 405),
    "finance-exports": PageCase(200, 405),
    "finance-settings": PageCase(200, 422),
    "bookkeeping": PageCase(200, 422),
    "tax-rates": PageCase(200, 405),
    "tax-rate-new": PageCase(200, 422),
    "tax-rate": PageCase(200, 422, tax_rate),
    "tax-rate-archive": PageCase(200, 302, tax_rate),
    "invoices": PageCase(200, 405),
    "invoice-new": PageCase(200, 422),
    "invoice": PageCase(200, 405, draft_invoice),
    "invoice-edit": PageCase(200, 422, draft_invoice),
    "invoice-delete": PageCase(200, 302, draft_invoice),
    "invoice-issue": PageCase(200, 302, draft_invoice),
    "invoice-send": PageCase(200, 302, issued_invoice),
    "invoice-void": PageCase(200, 302, issued_invoice),
    "invoice-credit": PageCase(200, 422, issued_invoice),
    "invoice-pdf": PageCase(200, 405, issued_invoice),
    "payment-new": PageCase(200, 422, issued_invoice),
    "payments": PageCase(200, 405),
    "payment-refund": PageCase(200, 422, payment),
    "payouts": PageCase(200, 405),
    "payout": PageCase(200, 405, payout),
    "payout-export": PageCase(200, 405, payout),
    "payment-account": PageCase(200, 422, owners="posts"),
    "payment-account-webhooks": PageCase(200, 302, owners="all"),
    "payment-account-disconnect": PageCase(200, 302, owners="all"),
    "staff": PageCase(200, 405),
    "staff-new": PageCase(200, 422),
    "staff-member": PageCase(200, 422, offered("staff")),
    "staff-delete": PageCase(200, 302, offered("staff")),
    "calendar": PageCase(200, 405),
    "appointments": PageCase(200, 405),
    "appointment-new": PageCase(200, 422),
    "appointment": PageCase(200, 405, appointment),
    "appointment-reschedule": PageCase(200, 422, appointment),
    "appointment-cancel": PageCase(200, 302, appointment),
    "appointment-confirm": PageCase(302, 302, appointment),
    "appointment-complete": PageCase(302, 302, appointment),
    "appointment-miss": PageCase(302, 302, appointment),
    "staff-hours": PageCase(200, 422, offered("staff")),
    "staff-time-off": PageCase(200, 422, offered("staff")),
    "staff-time-off-remove": PageCase(302, 302, time_off),
    "staff-calendars": PageCase(200, 422, offered("staff")),
    "staff-calendar-read": PageCase(302, 302, external_calendar),
    "staff-calendar-remove": PageCase(302, 302, external_calendar),
    "staff-feed-create": PageCase(302, 302, offered("staff")),
    "staff-feed-renew": PageCase(302, 302, calendar_feed),
    "staff-feed-remove": PageCase(302, 302, calendar_feed),
    "classes": PageCase(200, 405),
    "class-new": PageCase(200, 422),
    "class": PageCase(200, 405, offered("session")),
    "class-edit": PageCase(200, 422, offered("session")),
    "class-series-list": PageCase(200, 405),
    "class-series-new": PageCase(200, 422),
    "class-series": PageCase(200, 405, offered("series")),
    "class-series-edit": PageCase(200, 422, offered("series")),
    "class-series-end": PageCase(200, 302, offered("series")),
    "class-waiting-add": PageCase(302, 404, offered("session")),
    "class-waiting-remove": PageCase(302, 302, waiting),
    "class-cancel": PageCase(200, 302, offered("session")),
    "class-participant-add": PageCase(302, 404, offered("session")),
    "class-participant-remove": PageCase(302, 302, offered("session", "contact")),
    "pack": PageCase(200, 405, pack),
    "pack-install": PageCase(302, 302, pack),
    "people": PageCase(200, 405, owners="posts"),
    "person-invite": PageCase(200, 422, owners="all"),
    "person-invite-again": PageCase(302, 302, invitation, owners="posts"),
    "person-invite-withdraw": PageCase(302, 302, invitation, owners="posts"),
    "person-remove": PageCase(200, 302, member, owners="all"),
    "person-make-owner": PageCase(200, 302, member, owners="all"),
    "help": PageCase(200, 405),
    "help-guide": PageCase(200, 405, guide),
    "activity": PageCase(200, 405),
    "notifications": PageCase(200, 405),
    "notifications-read": PageCase(302, 302),
    "notification-settings": PageCase(200, 422),
}
# Open to whoever has signed in and owns something: they lead into a workspace.
LANDING = {
    "choose": PageCase(200, 405),
    "switch": PageCase(302, 302),
    "agency-access-end": PageCase(302, 302),
    "leave": PageCase(200, 302, lambda tenant: [tenant.workspace.uuid]),
    "workspace-new": PageCase(404, 404),  # until the agency allows it: sign_up/test_further_workspaces.py
}


def address(name: str, ids: list[UUID]) -> str:
    return reverse(f"app:{name}", args=ids)

"""Forms that make something count once, whoever sends them how often, and lead back to what they made."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.messages import get_messages
from django.core import signing
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Addon, AgencyKey, BulkOperation, Domain, Export, Invitation, Mail, Plan, SentForm
from agency.pages.forms import SALT, VALUE, new_nonce
from agency.services import change_sign_up, queue_mail
from agency.services.page_records import FORMS_LAST, SENT_FORMS_KEPT
from broadcasts.models import Broadcast
from channelconnect.models import ChannelCredential, ConnectSession, MessageTemplate
from packs.models import Pack, PackEntry
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, flashes, hidden, text
from tests.broadcasts.under_way import a_draft
from tests.channelconnect.agencies import RETURN_URL, switch_on
from tests.factories import ContactFactory, ProductFactory, ServiceFactory, StaffFactory, a_workspace_key
from tests.factories.appointments import a_bookable_service, tomorrow
from tests.factories.webhooks import a_failed_delivery
from tests.packs.client import an_automation
from tests.page_walk import turn
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import a_conversation
from tests.workspaces.subaccounts.dashboard.pages import issued_invoice, payment
from webhooks.models import Delivery, Endpoint
from webhooks.services.endpoints import register_endpoint
from workspaces.appointments.models import Appointment, CalendarFeed, ExternalCalendar, TimeOff
from workspaces.appointments.services.calendar_feeds import create_feed
from workspaces.automations.models import AiAccount, Automation
from workspaces.catalogue.models import Product, Service, ServiceCategory, Staff, StockMovement
from workspaces.classes.models import ClassSeries, ClassSession
from workspaces.contacts.models import Contact, ContactImport, Segment, Task
from workspaces.conversations.models import Message, Note, QueuedMessage, SavedReply
from workspaces.conversations.services import Content, send_message
from workspaces.finance.models import Invoice, Payment, Refund, TaxRate
from workspaces.subaccounts.models import Workspace, WorkspaceKey
from workspaces.subaccounts.services import tenant_of

a = furnished.a_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@dataclass(frozen=True)
class Making:
    """A page that makes a row of `model`; `ids`, `query` and `data` are those of a form that does so."""

    model: type[Model]
    ids: Callable[[Tenant], list[Any]] = lambda _: []
    data: Callable[[Tenant], dict[str, Any]] = lambda _: {}
    query: Callable[[Tenant], str] = lambda _: ""


def of_failed(tenant: Tenant) -> list[Any]:
    return [a_failed_delivery(tenant, tenant.endpoint).uuid]


def since_yesterday(tenant: Tenant) -> dict[str, Any]:
    a_failed_delivery(tenant, tenant.endpoint)
    return {"since": (now() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")}


def of_copy(tenant: Tenant) -> list[Any]:
    return [tenant.pack.uuid, tenant.workspace.uuid, an_automation(tenant.workspace).uuid]


def of_newcomer(tenant: Tenant) -> list[Any]:
    tenant.workspace.owner.set_unusable_password()
    tenant.workspace.owner.save()
    return [tenant.workspace.uuid]


def of_failed_mail(tenant: Tenant) -> list[Any]:
    mail = queue_mail(kind=Mail.Kind.OWNER_INVITATION, user=tenant.workspace.owner, agency=tenant.agency, context={})
    Mail.objects.filter(pk=mail.pk).update(failure="recipient", failed_at=now(), given_up_at=now())
    return [mail.pk]


def of_connecting(tenant: Tenant) -> list[Any]:
    switch_on(tenant)
    return [tenant.workspace.uuid]


def of_conversation(tenant: Tenant) -> list[Any]:
    return [a_conversation(tenant.channel).uuid]


def of_failed_message(tenant: Tenant) -> list[Any]:
    conversation = a_conversation(tenant.channel)
    message = send_message(conversation=conversation, content=Content(text="At eight."), by=SYSTEM, now=now())
    QueuedMessage.objects.all().delete()
    Message.objects.filter(pk=message.pk).update(status="failed", error_code="131026")
    return [conversation.uuid, message.uuid]


def of_newcomer_on_whatsapp(tenant: Tenant) -> str:
    """The address of a first message to somebody: with a template, as no window is open."""
    ChannelCredential.objects.update_or_create(
        channel=tenant.channel, defaults={"token": "token", "container_id": "container"}
    )
    template = MessageTemplate.objects.create(
        container_id="container", name="hello", language="en_US", status="approved", components=[], parameters=[]
    )
    contact = ContactFactory.create(workspace=tenant.workspace, phone="+4915112345999")
    return f"?contact={contact.uuid}&channel={tenant.channel.uuid}&template={template.uuid}"


def a_first_message(_: Tenant) -> dict[str, Any]:
    return {"template": str(MessageTemplate.objects.get().uuid)}


def of_draft(tenant: Tenant) -> list[Any]:
    return [a_draft(tenant.channel).uuid]


def a_typed_broadcast(tenant: Tenant) -> dict[str, Any]:
    fields = {"name": "Sale", "message_text": "Hello", "audience": "all", "time": "now"}
    return {**fields, "channel": str(tenant.channel.uuid)}


def somebody_who_wrote(tenant: Tenant) -> dict[str, Any]:
    return {"contacts": str(a_conversation(tenant.channel).contact.uuid)}


def a_typed_invoice(tenant: Tenant) -> dict[str, Any]:
    contact = ContactFactory.create(workspace=tenant.workspace)
    line = {"line-0-description": "Work", "line-0-quantity": "1", "line-0-unit_price": "5"}
    return {"contact": str(contact.uuid), **line}


def of_product(tenant: Tenant) -> list[Any]:
    return [ProductFactory.create(workspace=tenant.workspace, track_stock=True, stock_quantity=1).uuid]


def of_own_endpoint(tenant: Tenant) -> list[Any]:
    return [own_endpoint(tenant).uuid]


def own_endpoint(tenant: Tenant) -> Endpoint:
    return register_endpoint(
        tenant=tenant_of(tenant.workspace), url="https://93.184.215.14/own", events=["contact.created"], by=SYSTEM
    )


def of_own_failed(tenant: Tenant) -> list[Any]:
    delivery = a_failed_delivery(tenant, own_endpoint(tenant))
    Delivery.objects.filter(pk=delivery.pk).update(workspace_id=tenant.workspace.pk)
    return [delivery.uuid]


def own_since_yesterday(tenant: Tenant) -> dict[str, Any]:
    a_failed_delivery(tenant, own_endpoint(tenant))
    return {"since": (now() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")}


def a_class_series(tenant: Tenant) -> dict[str, Any]:
    service = ServiceFactory.create(workspace=tenant.workspace)
    rule = {"start_time": "18:00", "capacity": "5", "interval": "1", "unit": "weeks"}
    return {"service": str(service.uuid), "first_date": "2100-12-01", **rule}


def a_class(tenant: Tenant) -> dict[str, Any]:
    service = ServiceFactory.create(workspace=tenant.workspace)
    starts_at = (now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    return {"service": str(service.uuid), "starts_at": starts_at, "capacity": "5"}


def of_staff(tenant: Tenant) -> list[Any]:
    return [StaffFactory.create(workspace=tenant.workspace).uuid]


def of_feed(tenant: Tenant) -> list[Any]:
    return [create_feed(staff=StaffFactory.create(workspace=tenant.workspace), now=now(), by=SYSTEM).staff.uuid]


def an_appointment(tenant: Tenant) -> dict[str, Any]:
    service = a_bookable_service(tenant.workspace, people=2)
    contact = ContactFactory.create(workspace=tenant.workspace)
    return {"service": str(service.uuid), "contact": str(contact.uuid), "starts_at": tomorrow().isoformat()}


def a_further_workspace(tenant: Tenant) -> dict[str, Any]:
    change_sign_up(agency=tenant.agency, plan=tenant.plan, allows_further_workspaces=True, by=SYSTEM)
    return {"business": "Second Shop", "timezone": "UTC"}


def an_owner(_: Tenant) -> dict[str, Any]:
    return {"name": "Shop", "owner_name": "Ada", "owner_email": "ada@example.com", "timezone": "UTC"}


def an_endpoint(_: Tenant) -> dict[str, Any]:
    return {"url": "https://93.184.215.14/new", "events": ["workspace.created"], "enabled": "on"}


def of_chosen(tenant: Tenant) -> str:
    return f"?action=sub_accounts.suspend&item={tenant.workspace.uuid}"


def of_automation(tenant: Tenant) -> list[Any]:
    return [an_automation(tenant.workspace).uuid]


def of_workspace_key(tenant: Tenant) -> list[Any]:
    return [a_workspace_key(tenant.workspace)[0].uuid]


AI_ACCOUNT = {
    "name": "Main",
    "provider": "openai",
    "base_url": "https://93.184.215.14/v1",
    "model": "small",
    "key": "sk-1",
    "monthly_budget": "5",
    "input_price": "0",
    "output_price": "0",
}
MAKING = {
    "bulk-operation-new": Making(BulkOperation, query=of_chosen, data=lambda _: {"reason": "Not paid"}),
    "export-new": Making(Export, data=lambda _: {"kind": "activity", "format": "csv"}),
    "plan-new": Making(Plan, data=lambda _: {"name": "Growth"}),
    "addon-new": Making(Addon, data=lambda _: {"name": "More"}),
    "domain-new": Making(Domain, data=lambda _: {"host": "app.example.net"}),
    "api-key-new": Making(AgencyKey, data=lambda _: {"name": "CRM"}),
    "api-key-roll": Making(AgencyKey, ids=lambda a: [a.key.uuid], data=lambda _: {"overlap": "24"}),
    "mail-again": Making(Mail, ids=of_failed_mail),
    "team-invite": Making(Invitation, data=lambda _: {"name": "N", "email": "new@example.com", "role": "viewer"}),
    "sub-account-owner-invite": Making(Mail, ids=of_newcomer),
    "sub-account-new": Making(Workspace, data=an_owner),
    "ai-account-new": Making(AiAccount, data=lambda _: AI_ACCOUNT),
    "webhook-new": Making(Endpoint, data=an_endpoint),
    "webhook-rotate": Making(Endpoint, ids=lambda a: [a.endpoint.uuid]),
    "webhook-test": Making(Delivery, ids=lambda a: [a.endpoint.uuid]),
    "webhook-redeliver": Making(Delivery, ids=of_failed),
    "webhook-redeliver-failed": Making(Delivery, data=since_yesterday),
    "pack-new": Making(Pack, data=lambda _: {"name": "Starter"}),
    "pack-copy-preview": Making(PackEntry, ids=of_copy),
    "channel-connect-start-for": Making(
        ConnectSession, ids=of_connecting, data=lambda _: {"platform": "whatsapp", "return_url": RETURN_URL}
    ),
}
# What owners of workspaces make, in the dashboard.
OF_OWNERS = {
    "api-key-new": Making(WorkspaceKey, data=lambda _: {"name": "Shop"}),
    "api-key-roll": Making(WorkspaceKey, ids=of_workspace_key, data=lambda _: {"overlap": "24"}),
    "appointment-new": Making(Appointment, data=an_appointment),
    "automation-copy": Making(Automation, ids=of_automation, data=lambda _: {"name": "Copy", "platform": "whatsapp"}),
    "automation-new": Making(
        Automation, data=lambda _: {"name": "Prices", "platform": "whatsapp", "trigger": "keyword"}
    ),
    "broadcast-duplicate": Making(Broadcast, ids=of_draft),
    "broadcast-new": Making(Broadcast, data=a_typed_broadcast),
    "broadcast-test": Making(Message, ids=of_draft, data=somebody_who_wrote),
    "class-new": Making(ClassSession, data=a_class),
    "class-series-new": Making(ClassSeries, data=a_class_series),
    "contact-import-new": Making(ContactImport, data=lambda _: {"file": SimpleUploadedFile("a.csv", b"Name\nAda\n")}),
    "contact-new": Making(Contact, data=lambda _: {"name": "Ada"}),
    "conversation-again": Making(Message, ids=of_failed_message),
    "conversation-new": Making(Message, query=of_newcomer_on_whatsapp, data=a_first_message),
    "conversation-note": Making(Note, ids=of_conversation, data=lambda _: {"text": "Calls back"}),
    "conversation-send": Making(Message, ids=of_conversation, data=lambda _: {"text": "Yes"}),
    "invoice-new": Making(Invoice, data=a_typed_invoice),
    "invoice-credit": Making(Invoice, ids=issued_invoice, data=lambda _: {"line-1": "1"}),
    "payment-new": Making(
        Payment, ids=issued_invoice, data=lambda _: {"amount": "5", "method": "cash", "received_on": "2026-01-02"}
    ),
    "payment-refund": Making(Refund, ids=payment, data=lambda _: {"amount": "4", "method": "cash"}),
    "tax-rate-new": Making(TaxRate, data=lambda _: {"name": "VAT", "percent": "19"}),
    "product-new": Making(Product, data=lambda _: {"name": "Soap", "price": "3"}),
    "product-stock": Making(StockMovement, ids=of_product, data=lambda _: {"reason": "received", "quantity": "5"}),
    "saved-reply-new": Making(SavedReply, data=lambda _: {"name": "Hours", "text": "Nine to six."}),
    "segment-new": Making(Segment, data=lambda _: {"name": "Regulars", "rows": "1"}),
    "task-new": Making(Task, data=lambda _: {"title": "Call back"}),
    "service-category-new": Making(ServiceCategory, data=lambda _: {"name": "Hair"}),
    "service-new": Making(Service, data=lambda _: {"name": "Cut", "kind": "appointment"}),
    "staff-new": Making(Staff, data=lambda _: {"name": "Mia"}),
    "staff-calendars": Making(
        ExternalCalendar, ids=of_staff, data=lambda _: {"name": "Own", "address": "https://93.184.215.14/own.ics"}
    ),
    "staff-feed-create": Making(CalendarFeed, ids=of_staff),
    "staff-feed-renew": Making(CalendarFeed, ids=of_feed),
    "staff-time-off": Making(
        TimeOff, ids=of_staff, data=lambda _: {"starts_at": "2027-07-01T08:00", "ends_at": "2027-07-02T08:00"}
    ),
    "person-invite": Making(Invitation, data=lambda _: {"name": "Nora", "email": "nora@example.com"}),
    "webhook-new": Making(Endpoint, data=lambda _: {**an_endpoint(_), "events": ["contact.created"]}),
    "webhook-rotate": Making(Endpoint, ids=of_own_endpoint),
    "webhook-test": Making(Delivery, ids=of_own_endpoint),
    "webhook-redeliver": Making(Delivery, ids=of_own_failed),
    "webhook-redeliver-failed": Making(Delivery, data=own_since_yesterday),
    "workspace-new": Making(Workspace, data=a_further_workspace),
}
NAMED_LIKE_ONE = ("-new", "-invite", "-redeliver", "-copy-preview", "-start-for")


def views_of(namespace: str) -> Iterator[tuple[str, Any]]:
    _, resolver = get_resolver().namespace_dict[namespace]
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern) and pattern.name:
            yield pattern.name, getattr(pattern.callback, "view_class", None)


@pytest.mark.parametrize(("namespace", "making"), [("console", MAKING), ("app", OF_OWNERS)])
def test_every_page_that_makes_something_says_so(namespace: str, making: dict[str, Making]) -> None:
    views = list(views_of(namespace))
    assert {name for name, view in views if view and view.creates} == making.keys()
    assert {name for name, _ in views if name.endswith(NAMED_LIKE_ONE)} <= making.keys()


def test_every_form_of_a_page_can_be_told_from_another(a: Tenant, owner: Client) -> None:
    page = owner.get(f"/console/sub-accounts/{a.workspace.uuid}/edit")
    assert hidden(page, "nonce") != hidden(owner.get(f"/console/sub-accounts/{a.workspace.uuid}/edit"), "nonce")


@pytest.mark.parametrize("name", [*(f"console:{name}" for name in MAKING), *(f"app:{name}" for name in OF_OWNERS)])
def test_sent_twice_it_makes_one_and_leads_to_it(name: str, a: Tenant) -> None:
    namespace, _, short = name.partition(":")
    is_console = namespace == "console"
    making = (MAKING if is_console else OF_OWNERS)[short]
    user = a_member(a.agency, "owner").user if is_console else a.workspace.owner
    browser, path = a_browser(user), reverse(name, args=making.ids(a)) + making.query(a)
    data = {**making.data(a), "nonce": new_nonce(user.pk)}
    first = browser.post(path, data)
    assert first.status_code in {200, 302}, text(first)
    made = making.model._default_manager.count()
    secrets = list(Endpoint.objects.values_list("secret", flat=True))
    for file in data.values():
        if isinstance(file, SimpleUploadedFile):
            file.seek(0)
    again = browser.post(path, data)
    assert making.model._default_manager.count() == made
    assert list(Endpoint.objects.values_list("secret", flat=True)) == secrets
    assert again.status_code == 302
    assert again["Location"] == first.headers.get("Location", SentForm.objects.get().landing)
    # The frame of all pages shows what is said.
    said = [*map(str, get_messages(again.wsgi_request))] if turn(name, 4) else flashes(browser.get(again["Location"]))
    assert "already sent" in said[-1]


def test_two_forms_make_two(a: Tenant) -> None:
    user = a_member(a.agency).user
    for _ in range(2):
        answer = a_browser(user).post("/console/packs/new", {"name": "Starter", "nonce": new_nonce(user.pk)})
        assert answer.status_code == 302
    assert Pack.objects.count() == 2


def test_back_in_a_browser_comes_back_to_the_same_form(a: Tenant, admin: Client) -> None:
    browsing = {"Sec-Fetch-Mode": "navigate"}
    opened = admin.get("/console/packs/new", headers=browsing)
    path = opened["Location"]
    assert VALUE.fullmatch(path.removeprefix("/console/packs/new?form=")), "nothing signed stands in an address"
    page = admin.get(path, headers=browsing)
    assert page.status_code == 200
    nonce = hidden(page, "nonce")
    # The signature holds the second in which the page was made.
    assert hidden(admin.get(path, headers=browsing), "nonce").split(":")[0] == nonce.split(":")[0]
    made = admin.post(path, {"name": "Starter", "nonce": nonce})["Location"]
    assert admin.get(path, headers=browsing)["Location"] == made
    assert admin.get("/console/packs/new", headers=browsing)["Location"] != path


def test_a_refused_form_keeps_its_nonce_and_may_be_sent_again(a: Tenant, admin: Client) -> None:
    path = admin.get("/console/packs/new", headers={"Sec-Fetch-Mode": "navigate"})["Location"]
    nonce = hidden(admin.get(path), "nonce")
    refused = admin.post(path, {"name": "", "nonce": nonce})
    assert (refused.status_code, hidden(refused, "nonce")) == (422, nonce)
    assert not SentForm.objects.exists()
    assert admin.post(path, {"name": "Starter", "nonce": nonce}).status_code == 302
    assert Pack.objects.count() == 1


class LongAgo(signing.TimestampSigner):
    """Signs as it was done before a form could last so long."""

    def timestamp(self) -> str:
        return signing.b62_encode(int((now() - FORMS_LAST).timestamp()) - 1)


def test_a_form_that_was_open_for_too_long_is_shown_again(a: Tenant) -> None:
    user = a_member(a.agency).user
    nonce = LongAgo(salt=SALT).sign_object([user.pk, "abc"])
    answer = a_browser(user).post("/console/packs/new", {"name": "Starter", "nonce": nonce})
    assert answer.status_code == 422
    assert "This form is out of date" in text(answer)
    assert 'value="Starter"' in answer.content.decode()
    assert not Pack.objects.exists()
    a_browser(user).post("/console/packs/new", {"name": "Starter", "nonce": hidden(answer, "nonce")})
    assert Pack.objects.count() == 1


def test_sent_forms_are_remembered_for_longer_than_a_form_may_be_sent() -> None:
    assert timedelta(days=1) <= SENT_FORMS_KEPT - FORMS_LAST


@pytest.mark.django_db(transaction=True)
def test_of_several_submits_at_once_one_makes_it_and_all_land_there(a: Tenant) -> None:
    user = a_member(a.agency).user
    browsers = [a_browser(user) for _ in range(4)]
    data = {"name": "Starter", "nonce": new_nonce(user.pk)}
    answers = at_once(lambda number: browsers[number].post("/console/packs/new", data), times=4)
    pack = Pack.objects.get()
    assert {urlsplit(answer["Location"]).path for answer in answers} == {f"/console/packs/{pack.uuid}/library"}

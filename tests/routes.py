"""The mounted routes of the API, and the status that each gives to each caller."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.services import suspend_agency
from channelconnect.models import ChannelCredential
from tests.broadcasts.making import a_body, bring_to, create
from tests.channelconnect.agencies import RETURN_URL, a_session, switch_on, wanted
from tests.factories import ContactFactory, a_file, a_workspace_key, catalogue_ids
from tests.factories.appointments import appointment_ids, move_to_the_past, tomorrow
from tests.factories.finance import invoice_ids
from tests.tenants import NOTHING, Api, Multipart, Tenant, a_new_customer
from tests.workspaces.automations.runs import a_run, fail_run
from tests.workspaces.conversations.facts import a_conversation
from tests.workspaces.media.files import PDF
from webhooks.services.deliveries import send_test
from webhooks.services.endpoints import register_endpoint
from workspaces.appointments.models import Appointment
from workspaces.automations.models import AutomationRun
from workspaces.automations.services import enable_automation
from workspaces.catalogue.models import Staff
from workspaces.classes.models import ClassSession, WaitingListEntry
from workspaces.contacts.models import Contact
from workspaces.subaccounts.services import grant_addon, suspend_workspace, tenant_of

AGENCY = "api/agency/v1/"
WORKSPACE = "api/v1/"
EVERYTHING_ELSE = r"^[\s\S]*\Z"
WRITES = ("POST", "PUT", "PATCH")
ID = re.compile(r"<id:(\w+)>")
OF_BOTH = ("webhook", "delivery")
# The paths of what is done with an invoice once it is issued.
OF_ISSUED = ("/send", "/void", "/credit", "/pdf", "/payments")
# Ids that a route takes in its query string.
QUERIES = {
    f"{AGENCY}packs/import/preview": "?workspace=<id:workspace>&automation=<id:automation>",
    f"{WORKSPACE}availability": f"?service=<id:bookable_service>&from={tomorrow():%Y-%m-%dT%H:%M:%SZ}"
    f"&to={tomorrow(20):%Y-%m-%dT%H:%M:%SZ}",
}

# Prefixes outside the API: pages for people, to which the bare address redirects, and health checks.
PAGES = (
    "account/",
    "app",
    "book/",
    "brand/",
    "calendar/",
    "connect/",
    "console",
    "l/",
    "media/",
    "pay/",
    "admin",
    "healthz",
    "readyz",
    "service-worker.js",
    "internal/",
)


@dataclass(frozen=True, slots=True)
class Case:
    """The status for the owner of the ids and its request body; `others` is the status for another tenant's key."""

    own: int
    body: Callable[[Tenant], Any] | None = None
    others: int = 404
    body_optional: bool = False
    is_upload: bool = False
    content_type: str = "application/json"


def _endpoint(_: Tenant) -> dict[str, Any]:
    return {"url": "https://93.184.215.14/new", "events": ["workspace.created"]}


def _a_number(tenant: Tenant) -> str:
    """Give the tenant's channel, with credentials for its provider."""
    values = {"token": "EAAS", "container_id": f"2{tenant.channel.pk}"}
    ChannelCredential.objects.update_or_create(channel=tenant.channel, defaults=values)
    return str(tenant.channel.uuid)


def _workspace_endpoint(_: Tenant) -> dict[str, Any]:
    return {"url": "https://93.184.215.14/new", "topics": ["product.updated"]}


def _a_run(tenant: Tenant) -> dict[str, Any]:
    """Switch the automation on, and name a contact who can be reached and has no run yet."""
    enable_automation(automation=tenant.automation, now=now(), by=SYSTEM)
    return {"contact": str(a_conversation(tenant.channel).contact.uuid)}


def _failed_run(tenant: Tenant) -> dict[str, Any]:
    enable_automation(automation=tenant.automation, now=now(), by=SYSTEM)
    fail_run(AutomationRun.objects.get(uuid=ids_of(tenant)["run"]))
    return {}


def _an_offer() -> dict[str, Any]:
    return {"name": "Scale", "limits": {"contacts": 10}}


def a_message(tenant: Tenant) -> dict[str, Any]:
    """Give the body of a message in the existing conversation."""
    conversation = a_conversation(tenant.channel)
    return {"contact": str(conversation.contact.uuid), "channel": str(tenant.channel.uuid), "text": "Yes, at eight."}


def _a_broadcast(tenant: Tenant) -> dict[str, Any]:
    """Give the body of a broadcast in free text on the existing channel."""
    return a_body(tenant)


def _in(status: str) -> Callable[[Tenant], dict[str, Any]]:
    """Bring the tenant's broadcast into a state from which the move is allowed."""

    def bring(tenant: Tenant) -> dict[str, Any]:
        bring_to({"id": ids_of(tenant)["broadcast"]}, status)
        return {}

    return bring


def _move(status: str) -> Case:
    return Case(200, _in(status), body_optional=True)


def _a_test(tenant: Tenant) -> dict[str, Any]:
    """Give the body of a test to a contact whose window is open."""
    return {"contacts": [str(a_conversation(tenant.channel).contact.uuid)]}


def _a_product() -> dict[str, Any]:
    return {"name": "Shampoo", "price": 9.5, "track_stock": True, "stock_quantity": 3}


def _an_invoice(tenant: Tenant) -> dict[str, Any]:
    return {"contact": str(ids_of(tenant)["contact"]), "lines": [{"description": "Work", "unit_price": 12.5}]}


def _a_credit(_: Tenant) -> dict[str, Any]:
    return {"lines": [{"description": "Less work", "unit_price": 1}]}


def _a_class(tenant: Tenant) -> dict[str, Any]:
    return {"service": str(ids_of(tenant)["class_service"]), "starts_at": "2026-12-01T18:00:00Z", "capacity": 5}


def _an_appointment(tenant: Tenant) -> dict[str, Any]:
    ids = ids_of(tenant)
    return {
        "service": str(ids["bookable_service"]),
        "contact": str(ids["contact"]),
        "starts_at": tomorrow(14).isoformat(),
    }


def _after_the_start(tenant: Tenant) -> dict[str, Any]:
    move_to_the_past(Appointment.objects.get(uuid=ids_of(tenant)["appointment"]))
    return {}


def _working_hours() -> dict[str, Any]:
    exceptions = [{"date": "2030-12-24", "intervals": []}]
    return {"timezone": "Europe/Berlin", "weekly": {"monday": [["09:00", "17:00"]]}, "exceptions": exceptions}


def _a_time_off() -> dict[str, Any]:
    return {"starts_at": "2030-12-24T00:00:00Z", "ends_at": "2030-12-27T00:00:00Z", "reason": "Holidays"}


def _a_series(tenant: Tenant) -> dict[str, Any]:
    service = str(ids_of(tenant)["class_service"])
    return {"service": service, "first_date": "2100-12-01", "start_time": "18:00", "capacity": 5}


def _who_waits(tenant: Tenant) -> dict[str, Any]:
    """Fill the class, and name a contact who has no seat."""
    ClassSession.objects.filter(uuid=ids_of(tenant)["session"]).update(capacity=1)
    return {"contact": str(ContactFactory.create(workspace=tenant.workspace).uuid)}


def _a_place_on_the_list(tenant: Tenant) -> Any:
    """Let the contact wait that the path names."""
    session = ClassSession.objects.get(uuid=ids_of(tenant)["session"])
    contact = Contact.objects.get(uuid=ids_of(tenant)["contact"])
    WaitingListEntry.objects.get_or_create(session=session, contact=contact)
    return NOTHING


READ = Case(200)
LIST = Case(200, others=200)
DO = Case(200, body=lambda _: {}, body_optional=True)

ROUTES: dict[str, dict[str, Case]] = {
    f"{AGENCY}plans": {"GET": LIST, "POST": Case(201, lambda _: _an_offer(), others=201)},
    f"{AGENCY}plans/<id:plan>": {"GET": READ, "PATCH": Case(200, lambda _: {"name": "Renamed"}), "DELETE": READ},
    f"{AGENCY}addons": {"GET": LIST, "POST": Case(201, lambda _: _an_offer(), others=201)},
    f"{AGENCY}addons/<id:addon>": {"GET": READ, "PATCH": Case(200, lambda _: {"name": "Renamed"}), "DELETE": READ},
    f"{AGENCY}workspaces": {"GET": LIST, "POST": Case(201, lambda _: a_new_customer(), others=201)},
    f"{AGENCY}workspaces/<id:workspace>": {"GET": READ, "PATCH": Case(200, lambda _: {"name": "Renamed"})},
    f"{AGENCY}workspaces/<id:workspace>/suspend": {"POST": DO},
    f"{AGENCY}workspaces/<id:workspace>/restore": {"POST": DO},
    f"{AGENCY}workspaces/<id:workspace>/owner": {"PUT": Case(200, lambda _: a_new_customer()["owner"])},
    f"{AGENCY}workspaces/<id:workspace>/owner/invite": {"POST": Case(202, lambda _: {}, body_optional=True)},
    f"{AGENCY}workspaces/<id:workspace>/usage": {"GET": READ},
    f"{AGENCY}workspaces/<id:workspace>/plan": {"PUT": Case(200, lambda a: {"plan": str(a.plan.uuid)})},
    f"{AGENCY}workspaces/<id:workspace>/addons": {
        "GET": READ,
        "POST": Case(200, lambda a: {"addon": str(a.addon.uuid)}),
    },
    f"{AGENCY}workspaces/<id:workspace>/addons/<id:addon>": {"DELETE": READ},
    f"{AGENCY}workspaces/<id:workspace>/channels": {"GET": READ},
    f"{AGENCY}workspaces/<id:workspace>/channels/<id:channel>": {"GET": READ, "DELETE": READ},
    f"{AGENCY}workspaces/<id:workspace>/api-keys": {"GET": READ, "POST": Case(201, lambda _: {"name": "Shop"})},
    f"{AGENCY}workspaces/<id:workspace>/api-keys/<id:key>": {"GET": READ, "DELETE": READ},
    f"{AGENCY}workspaces/<id:workspace>/api-keys/<id:key>/roll": {"POST": Case(201, lambda _: {}, body_optional=True)},
    f"{AGENCY}webhooks": {"GET": LIST, "POST": Case(201, _endpoint, others=201)},
    f"{AGENCY}webhooks/events": {"GET": LIST},
    f"{AGENCY}webhooks/<id:webhook>": {"GET": READ, "PATCH": Case(200, lambda _: {"enabled": False}), "DELETE": READ},
    f"{AGENCY}webhooks/<id:webhook>/rotate-secret": {"POST": DO},
    f"{AGENCY}webhooks/<id:webhook>/test": {"POST": Case(202, lambda _: {}, body_optional=True)},
    f"{AGENCY}webhooks/<id:webhook>/replay": {"POST": Case(202, lambda _: {"since": "2026-11-20T00:00:00Z"})},
    f"{AGENCY}webhooks/<id:webhook>/deliveries": {"GET": READ},
    f"{AGENCY}webhooks/deliveries": {"GET": LIST},
    f"{AGENCY}webhooks/deliveries/<id:delivery>": {"GET": READ},
    f"{AGENCY}webhooks/deliveries/<id:delivery>/redeliver": {"POST": Case(202, lambda _: {}, body_optional=True)},
    f"{AGENCY}channel-connect/settings": {
        "GET": LIST,
        "PUT": Case(200, lambda _: {"return_urls": [RETURN_URL]}, others=200),
    },
    f"{AGENCY}workspaces/<id:workspace>/channel-connections": {"GET": READ, "POST": Case(201, lambda _: wanted())},
    f"{AGENCY}workspaces/<id:workspace>/channel-connections/<id:connection>": {"GET": READ},
    f"{AGENCY}workspaces/<id:workspace>/channel-connections/<id:connection>/cancel": {"POST": DO},
    f"{AGENCY}packs": {"GET": LIST, "POST": Case(201, lambda _: {"name": "Starter"}, others=201)},
    f"{AGENCY}packs/order": {"PUT": Case(200, lambda a: {"order": [str(a.pack.uuid)]}, others=422)},
    f"{AGENCY}packs/library": {"GET": LIST},
    f"{AGENCY}packs/visibility": {"GET": LIST, "PUT": Case(200, lambda _: {"replace_platform": True}, others=200)},
    f"{AGENCY}packs/import/sources": {"GET": LIST},
    f"{AGENCY}packs/import/preview": {"GET": READ},
    f"{AGENCY}packs/<id:pack>": {"GET": READ, "PATCH": Case(200, lambda _: {"summary": "For all."}), "DELETE": READ},
    f"{AGENCY}packs/<id:pack>/entries": {"POST": Case(201, lambda _: {"template_id": "salons-birthday-offer"})},
    f"{AGENCY}packs/<id:pack>/entries/order": {"PUT": Case(200, lambda a: {"order": [str(a.entry.uuid)]})},
    f"{AGENCY}packs/<id:pack>/entries/<id:entry>": {"PATCH": Case(200, lambda _: {"tier": "optional"}), "DELETE": READ},
    f"{WORKSPACE}automations": {"GET": LIST},
    f"{WORKSPACE}automations/<id:automation>": {"GET": READ},
    f"{WORKSPACE}automations/<id:automation>/enable": {"POST": DO},
    f"{WORKSPACE}automations/<id:automation>/disable": {"POST": DO},
    f"{WORKSPACE}automations/<id:automation>/runs": {"GET": READ, "POST": Case(201, _a_run)},
    f"{WORKSPACE}automations/<id:automation>/runs/<id:run>": {"GET": READ},
    f"{WORKSPACE}automations/<id:automation>/runs/<id:run>/stop": {"POST": DO},
    f"{WORKSPACE}automations/<id:automation>/runs/<id:run>/retry": {"POST": Case(200, _failed_run, body_optional=True)},
    f"{WORKSPACE}templates": {"GET": LIST},
    f"{WORKSPACE}templates/sync": {"POST": Case(202, lambda tenant: {"channel": _a_number(tenant)})},
    f"{WORKSPACE}products": {"GET": LIST, "POST": Case(201, lambda _: _a_product(), others=201)},
    f"{WORKSPACE}products/<id:product>": {
        "GET": READ,
        "PUT": Case(200, lambda _: _a_product()),
        "PATCH": Case(200, lambda _: {"price": 12.5}),
        "DELETE": READ,
    },
    f"{WORKSPACE}products/<id:product>/stock-movements": {"GET": READ},
    f"{WORKSPACE}service-categories": {"GET": LIST, "POST": Case(201, lambda _: {"name": "New"}, others=201)},
    f"{WORKSPACE}service-categories/<id:category>": {
        "GET": READ,
        "PATCH": Case(200, lambda _: {"name": "Renamed"}),
        "DELETE": READ,
    },
    f"{WORKSPACE}services": {
        "GET": LIST,
        "POST": Case(201, lambda _: {"name": "Cut", "kind": "appointment"}, others=201),
    },
    f"{WORKSPACE}services/<id:service>": {
        "GET": READ,
        "PATCH": Case(200, lambda _: {"duration_minutes": 30}),
        "DELETE": READ,
    },
    f"{WORKSPACE}staff": {"GET": LIST, "POST": Case(201, lambda _: {"name": "New"}, others=201)},
    f"{WORKSPACE}staff/<id:staff>": {"GET": READ, "PATCH": Case(200, lambda _: {"name": "Renamed"}), "DELETE": READ},
    f"{WORKSPACE}staff/<id:staff>/working-hours": {"GET": READ, "PUT": Case(200, lambda _: _working_hours())},
    f"{WORKSPACE}staff/<id:staff>/time-off": {"GET": READ, "POST": Case(201, lambda _: _a_time_off())},
    f"{WORKSPACE}staff/<id:staff>/time-off/<id:time_off>": {"DELETE": READ},
    f"{WORKSPACE}availability": {"GET": LIST},
    f"{WORKSPACE}appointments": {"GET": LIST, "POST": Case(201, _an_appointment)},
    f"{WORKSPACE}appointments/<id:appointment>": {"GET": READ},
    f"{WORKSPACE}appointments/<id:appointment>/confirm": {"POST": DO},
    f"{WORKSPACE}appointments/<id:appointment>/reschedule": {
        "POST": Case(200, lambda _: {"starts_at": tomorrow(16).isoformat()})
    },
    f"{WORKSPACE}appointments/<id:appointment>/cancel": {"POST": DO},
    f"{WORKSPACE}appointments/<id:appointment>/complete": {"POST": Case(200, _after_the_start, body_optional=True)},
    f"{WORKSPACE}appointments/<id:appointment>/miss": {"POST": Case(200, _after_the_start, body_optional=True)},
    f"{WORKSPACE}classes": {"GET": LIST, "POST": Case(201, _a_class)},
    f"{WORKSPACE}classes/series": {"GET": LIST, "POST": Case(201, _a_series)},
    f"{WORKSPACE}classes/series/<id:series>": {
        "GET": READ,
        "PATCH": Case(200, lambda _: {"capacity": 6}),
        "DELETE": READ,
    },
    f"{WORKSPACE}classes/<id:session>": {"GET": READ, "PATCH": Case(200, lambda _: {"capacity": 6})},
    f"{WORKSPACE}classes/<id:session>/cancel": {"POST": DO},
    f"{WORKSPACE}classes/<id:session>/participants": {
        "GET": READ,
        "POST": Case(200, lambda a: {"contact": str(ids_of(a)["contact"])}),
    },
    f"{WORKSPACE}classes/<id:session>/participants/<id:contact>": {"DELETE": READ},
    f"{WORKSPACE}tax-rates": {"GET": LIST, "POST": Case(201, lambda _: {"name": "New", "percent": 7}, others=201)},
    f"{WORKSPACE}tax-rates/<id:tax_rate>": {"GET": READ, "PATCH": Case(200, lambda _: {"name": "Renamed"})},
    f"{WORKSPACE}finance/summary": {"GET": LIST},
    f"{WORKSPACE}invoices": {"GET": LIST, "POST": Case(201, _an_invoice)},
    f"{WORKSPACE}invoices/<id:invoice>": {
        "GET": READ,
        "PATCH": Case(200, lambda _: {"note": "Renamed"}),
        "DELETE": READ,
    },
    f"{WORKSPACE}invoices/<id:invoice>/issue": {"POST": DO},
    f"{WORKSPACE}invoices/<id:invoice>/send": {"POST": DO},
    f"{WORKSPACE}invoices/<id:invoice>/void": {"POST": DO},
    f"{WORKSPACE}invoices/<id:invoice>/credit": {"POST": Case(201, _a_credit, body_optional=True)},
    f"{WORKSPACE}invoices/<id:invoice>/payments": {
        "GET": READ,
        "POST": Case(201, lambda _: {"amount": 1, "method": "cash"}),
    },
    f"{WORKSPACE}payments/<id:payment>/refunds": {"GET": READ, "POST": Case(201, lambda _: {"amount": 1})},
    f"{WORKSPACE}payouts": {"GET": LIST},
    f"{WORKSPACE}payouts/<id:payout>": {"GET": READ},
    f"{WORKSPACE}payouts/<id:payout>/transactions": {"GET": READ},
    f"{WORKSPACE}invoices/<id:invoice>/pdf": {"GET": Case(200, content_type="application/pdf")},
    f"{WORKSPACE}classes/<id:session>/waiting-list": {"GET": READ, "POST": Case(201, _who_waits)},
    f"{WORKSPACE}classes/<id:session>/waiting-list/<id:contact>": {"DELETE": Case(200, _a_place_on_the_list)},
    f"{WORKSPACE}workspace": {"GET": LIST, "PATCH": Case(200, lambda _: {"currency": "EUR"}, others=200)},
    f"{WORKSPACE}conversations": {"GET": LIST},
    f"{WORKSPACE}conversations/settings": {
        "GET": LIST,
        "PUT": Case(200, lambda _: {"opt_out_words": ["stopp"]}, others=200),
    },
    f"{WORKSPACE}conversations/<id:conversation>": {"GET": READ, "PATCH": Case(200, lambda _: {"status": "closed"})},
    f"{WORKSPACE}conversations/<id:conversation>/read": {"POST": DO},
    f"{WORKSPACE}conversations/<id:conversation>/unread": {"POST": DO},
    f"{WORKSPACE}conversations/<id:conversation>/notes": {
        "GET": READ,
        "POST": Case(201, lambda _: {"text": "Regular"}),
    },
    f"{WORKSPACE}conversations/<id:conversation>/messages": {
        "GET": READ,
        "POST": Case(201, lambda _: {"text": "Yes, at eight."}),
    },
    f"{WORKSPACE}messages": {"POST": Case(201, a_message)},
    f"{WORKSPACE}contacts": {"GET": LIST, "POST": Case(201, lambda _: {"name": "Ada"}, others=201)},
    f"{WORKSPACE}contacts/import": {
        "POST": Case(200, lambda _: {"contacts": [{"phone": "+493012345678"}]}, others=200)
    },
    f"{WORKSPACE}contacts/<id:contact>": {
        "GET": READ,
        "PATCH": Case(200, lambda _: {"name": "Renamed"}),
        "DELETE": READ,
    },
    f"{WORKSPACE}contacts/<id:contact>/merge": {"POST": Case(200, lambda a: {"contact": str(a.other_contact.uuid)})},
    f"{WORKSPACE}segments": {
        "GET": LIST,
        "POST": Case(201, lambda _: {"name": "Regulars", "filter": {"tags_any": ["VIP"]}}, others=201),
    },
    f"{WORKSPACE}segments/<id:segment>": {
        "GET": READ,
        "PATCH": Case(200, lambda _: {"name": "Renamed"}),
        "DELETE": READ,
    },
    f"{WORKSPACE}broadcasts": {"GET": LIST, "POST": Case(201, _a_broadcast)},
    f"{WORKSPACE}broadcasts/preview": {"POST": Case(200, _a_broadcast)},
    f"{WORKSPACE}broadcasts/<id:broadcast>": {
        "GET": READ,
        "PATCH": Case(200, lambda _: {"name": "Renamed"}),
        "DELETE": READ,
    },
    f"{WORKSPACE}broadcasts/<id:broadcast>/schedule": {"POST": _move("Draft")},
    f"{WORKSPACE}broadcasts/<id:broadcast>/approve": {"POST": _move("Scheduled")},
    f"{WORKSPACE}broadcasts/<id:broadcast>/pause": {"POST": _move("sending")},
    f"{WORKSPACE}broadcasts/<id:broadcast>/resume": {"POST": _move("paused")},
    f"{WORKSPACE}broadcasts/<id:broadcast>/cancel": {"POST": _move("Scheduled")},
    f"{WORKSPACE}broadcasts/<id:broadcast>/preview": {"POST": DO},
    f"{WORKSPACE}broadcasts/<id:broadcast>/test": {"POST": Case(202, _a_test)},
    f"{WORKSPACE}broadcasts/<id:broadcast>/recipients": {"GET": READ},
    f"{WORKSPACE}channels": {"GET": LIST},
    f"{WORKSPACE}channels/<id:channel>": {"GET": READ},
    f"{WORKSPACE}webhooks": {"GET": LIST, "POST": Case(201, _workspace_endpoint, others=201)},
    f"{WORKSPACE}webhooks/topics": {"GET": LIST},
    f"{WORKSPACE}webhooks/<id:webhook>": {
        "GET": READ,
        "PATCH": Case(200, lambda _: {"enabled": False}),
        "DELETE": READ,
    },
    f"{WORKSPACE}webhooks/<id:webhook>/rotate-secret": {"POST": DO},
    f"{WORKSPACE}webhooks/<id:webhook>/test": {"POST": Case(202, lambda _: {}, body_optional=True)},
    f"{WORKSPACE}webhooks/<id:webhook>/replay": {"POST": Case(202, lambda _: {"since": "2026-11-20T00:00:00Z"})},
    f"{WORKSPACE}webhooks/<id:webhook>/deliveries": {"GET": READ},
    f"{WORKSPACE}webhooks/deliveries": {"GET": LIST},
    f"{WORKSPACE}webhooks/deliveries/<id:delivery>": {"GET": READ},
    f"{WORKSPACE}webhooks/deliveries/<id:delivery>/redeliver": {"POST": Case(202, lambda _: {}, body_optional=True)},
    f"{WORKSPACE}media": {"GET": LIST, "POST": Case(201, lambda _: Multipart.of(PDF), others=201, is_upload=True)},
    f"{WORKSPACE}media/<id:media>": {"GET": READ, "DELETE": READ},
}
# They need no key and hold no caller's data.
DOCUMENTS = (
    f"{AGENCY}openapi.json",
    f"{WORKSPACE}openapi.json",
    "api/docs/agency",
    "api/docs/workspace",
    "api/docs/workspace/broadcasts",
    "api/docs/workspace/invoices",
    "api/docs/workspace/webhooks",
    "api/docs/workspace/appointments",
    "api/docs/workspace/classes",
    "api/docs/workspace/events",
)
CATCH_ALLS = (f"{AGENCY}{EVERYTHING_ELSE}", f"{WORKSPACE}{EVERYTHING_ELSE}", r"^api(?:/[\s\S]*)?\Z")


def mounted(patterns: Any = None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Give every route of the URL configuration with its view, except pages."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + str(entry.pattern)
        if not route or route.startswith(PAGES):
            continue
        if isinstance(entry, URLResolver):
            yield from mounted(entry.url_patterns, route)
        else:
            yield route, entry


def methods_of(entry: URLPattern) -> set[str]:
    """Give the methods that a viewset answers, without HEAD, which comes with GET."""
    return {method.upper() for method in getattr(entry.callback, "actions", None) or {}} - {"HEAD"}


def ids_in(route: str) -> list[str]:
    return [_own_name(route, name) for name in ID.findall(route)]


def _own_name(route: str, name: str) -> str:
    """Tell the workspace's thing from the agency's, if both surfaces have an id of this name."""
    if name == "invoice" and route.endswith(OF_ISSUED):
        return "issued_invoice"
    return f"own_{name}" if route.startswith(WORKSPACE) and name in OF_BOTH else name


def address(route: str, ids: dict[str, Any]) -> str:
    return "/" + ID.sub(lambda found: str(ids[_own_name(route, found[1])]), route + QUERIES.get(route, ""))


def ids_of(tenant: Tenant) -> dict[str, UUID]:
    """Give the ids of one of each thing that a path may name; make them once."""
    if not tenant.ids:
        tenant.ids = _make_ids(tenant)
    return dict(tenant.ids)


def _make_ids(tenant: Tenant) -> dict[str, UUID]:
    _ = tenant.key_making_api  # made now, so that no later call makes the key
    grant_addon(workspace=tenant.workspace, addon=tenant.addon, now=now(), by=SYSTEM)
    delivery = send_test(endpoint=tenant.endpoint, event="workspace.created", now=now(), by=SYSTEM)
    own = register_endpoint(
        tenant=tenant_of(tenant.workspace),
        url=f"https://93.184.215.14/{tenant.mark}",
        events=["product.updated"],
        by=SYSTEM,
    )
    own_delivery = send_test(endpoint=own, event="product.updated", now=now(), by=SYSTEM)
    return {
        "own_webhook": own.uuid,
        "own_delivery": own_delivery.uuid,
        "workspace": tenant.workspace.uuid,
        "key": a_workspace_key(tenant.workspace, name=f"Till {tenant.mark}")[0].uuid,
        "plan": tenant.plan.uuid,
        "addon": tenant.addon.uuid,
        "channel": tenant.channel.uuid,
        "webhook": tenant.endpoint.uuid,
        "delivery": delivery.uuid,
        "connection": a_session(switch_on(tenant)).uuid,
        "pack": tenant.pack.uuid,
        "entry": tenant.entry.uuid,
        "automation": tenant.automation.uuid,
        "run": a_run(tenant.automation, tenant.contact, channel=tenant.channel).uuid,
        "conversation": a_conversation(tenant.channel).uuid,
        "media": a_file(tenant.workspace, filename=f"{tenant.mark}.pdf").uuid,
        **(offered := catalogue_ids(tenant.workspace, tenant.mark, tenant.contact)),
        **appointment_ids(tenant.workspace, tenant.mark, Staff.objects.get(uuid=offered["staff"]), tenant.contact),
        **invoice_ids(tenant.workspace, tenant.mark, tenant.contact),
        "contact": tenant.contact.uuid,
        "segment": tenant.segment.uuid,
        "broadcast": create(tenant, name=f"Broadcast {tenant.mark}", requires_approval=True)["id"],
    }


def body_of(case: Case, tenant: Tenant) -> Any:
    return case.body(tenant) if case.body else NOTHING


def api_of(route: str, tenant: Tenant) -> Api:
    if route.startswith(f"{AGENCY}packs/import/"):
        return tenant.copying_api
    if "/api-keys" in route:
        return tenant.key_making_api
    return tenant.api if route.startswith(AGENCY) else tenant.workspace_api


def suspend(route: str, tenant: Tenant) -> None:
    if route.startswith(AGENCY):
        suspend_agency(agency=tenant.agency, reason="", now=now(), by=SYSTEM)
    else:
        suspend_workspace(workspace=tenant.workspace, now=now(), by=SYSTEM)

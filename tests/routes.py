"""The routes of the API as they are mounted, and what each answers to whom."""

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
from tests.channelconnect.agencies import RETURN_URL, a_session, switch_on, wanted
from tests.tenants import NOTHING, Api, Tenant, a_new_customer
from webhooks.services import send_test
from workspaces.subaccounts.services import grant_addon, suspend_workspace

AGENCY = "api/agency/v1/"
WORKSPACE = "api/v1/"
EVERYTHING_ELSE = r"^[\s\S]*\Z"
WRITES = ("POST", "PUT", "PATCH")
ID = re.compile(r"<id:(\w+)>")
# Ids that a route takes in its query string.
QUERIES = {f"{AGENCY}packs/import/preview": "?workspace=<id:workspace>&automation=<id:automation>"}

# Pages for people (the bare address leads to them), and what asks whether the process lives: not of the API.
PAGES = ("account/", "app", "brand/", "connect/", "console", "admin", "healthz", "readyz")


@dataclass(frozen=True, slots=True)
class Case:
    """What the holder of the ids gets, and for what body; `others` is what another tenant's key gets."""

    own: int
    body: Callable[[Tenant], Any] | None = None
    others: int = 404
    body_optional: bool = False


def _endpoint(_: Tenant) -> dict[str, Any]:
    return {"url": "https://93.184.215.14/new", "events": ["workspace.created"]}


def _a_number(tenant: Tenant) -> str:
    """The tenant's channel, with what it needs to speak to its provider."""
    values = {"token": "EAAS", "container_id": f"2{tenant.channel.pk}"}
    ChannelCredential.objects.update_or_create(channel=tenant.channel, defaults=values)
    return str(tenant.channel.uuid)


def _an_offer() -> dict[str, Any]:
    return {"name": "Scale", "limits": {"contacts": 10}}


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
    f"{AGENCY}packs/<id:pack>/entries/<id:entry>": {
        "PATCH": Case(200, lambda _: {"tier": "optional"}),
        "DELETE": READ,
    },
    f"{WORKSPACE}automations": {"GET": LIST},
    f"{WORKSPACE}automations/<id:automation>": {"GET": READ},
    f"{WORKSPACE}templates": {"GET": LIST},
    f"{WORKSPACE}templates/sync": {"POST": Case(202, lambda tenant: {"channel": _a_number(tenant)})},
    f"{WORKSPACE}workspace": {"GET": LIST, "PATCH": Case(200, lambda _: {"currency": "EUR"}, others=200)},
    f"{WORKSPACE}channels": {"GET": LIST},
    f"{WORKSPACE}channels/<id:channel>": {"GET": READ},
}
# No key is asked for, and no caller's data is in them.
DOCUMENTS = (f"{AGENCY}openapi.json", f"{WORKSPACE}openapi.json", "api/docs/agency", "api/docs/workspace")
CATCH_ALLS = (f"{AGENCY}{EVERYTHING_ELSE}", f"{WORKSPACE}{EVERYTHING_ELSE}", r"^api(?:/[\s\S]*)?\Z")


def mounted(patterns: Any = None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every route of the URL configuration with its view, but the pages."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + str(entry.pattern)
        if not route or route.startswith(PAGES):
            continue
        if isinstance(entry, URLResolver):
            yield from mounted(entry.url_patterns, route)
        else:
            yield route, entry


def methods_of(entry: URLPattern) -> set[str]:
    """The methods that a view set answers; HEAD comes with GET."""
    return {method.upper() for method in getattr(entry.callback, "actions", None) or {}} - {"HEAD"}


def ids_in(route: str) -> list[str]:
    return ID.findall(route)


def address(route: str, ids: dict[str, Any]) -> str:
    return "/" + ID.sub(lambda found: str(ids[found[1]]), route + QUERIES.get(route, ""))


def ids_of(tenant: Tenant) -> dict[str, UUID]:
    """One of each thing that a path may name, all there, and made once."""
    if not tenant.ids:
        tenant.ids = _make_ids(tenant)
    return dict(tenant.ids)


def _make_ids(tenant: Tenant) -> dict[str, UUID]:
    grant_addon(workspace=tenant.workspace, addon=tenant.addon, now=now(), by=SYSTEM)
    delivery = send_test(endpoint=tenant.endpoint, event="workspace.created", now=now(), by=SYSTEM)
    return {
        "workspace": tenant.workspace.uuid,
        "plan": tenant.plan.uuid,
        "addon": tenant.addon.uuid,
        "channel": tenant.channel.uuid,
        "webhook": tenant.endpoint.uuid,
        "delivery": delivery.uuid,
        "connection": a_session(switch_on(tenant)).uuid,
        "pack": tenant.pack.uuid,
        "entry": tenant.entry.uuid,
        "automation": tenant.automation.uuid,
    }


def body_of(case: Case, tenant: Tenant) -> Any:
    return case.body(tenant) if case.body else NOTHING


def api_of(route: str, tenant: Tenant) -> Api:
    if route.startswith(f"{AGENCY}packs/import/"):
        return tenant.copying_api
    return tenant.api if route.startswith(AGENCY) else tenant.workspace_api


def suspend(route: str, tenant: Tenant) -> None:
    if route.startswith(AGENCY):
        suspend_agency(agency=tenant.agency, reason="", now=now(), by=SYSTEM)
    else:
        suspend_workspace(workspace=tenant.workspace, now=now(), by=SYSTEM)

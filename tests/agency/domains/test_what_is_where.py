"""On an agency's hosts there is what is its own, on the installation's all of it."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Brand
from agency.services import remove_picture, set_picture
from broadcasts.content import FrozenMessage
from broadcasts.models import Recipient
from broadcasts.public import redirect_from_memory
from broadcasts.services import link_clicks
from broadcasts.services.tracked_links import tracked_link
from config.event_loop_responses import EventLoopRequest, Scope
from tests.broadcasts.under_way import a_broadcast, a_recipient
from tests.factories import DomainFactory
from tests.images.pictures import a_picture
from tests.tenants import Multipart, Tenant
from tests.workspaces.media.files import PDF
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import move_workspace

pytestmark = pytest.mark.django_db

OWN, SECOND, OTHERS, INSTALLATIONS = "app.ada.localhost", "go.ada.localhost", "app.bob.localhost", "testserver"
HOSTS = (OWN, SECOND, OTHERS, INSTALLATIONS)
IS_THERE = {OWN: True, SECOND: True, OTHERS: False, INSTALLATIONS: True}
# Of a workspace that B has now and A had before.
WAS_SENT_BEFORE = dict.fromkeys(HOSTS, True)
IS_SENT_AFTERWARDS = {OWN: False, SECOND: False, OTHERS: True, INSTALLATIONS: True}
SALE = "https://shop.example/sale"


@pytest.fixture(autouse=True)
def _hosts(a: Tenant, b: Tenant) -> Iterator[None]:
    for tenant, host in ((a, OWN), (a, SECOND), (b, OTHERS)):
        DomainFactory.create(agency=tenant.agency, host=host)
    link_clicks.link_cache.clear()
    yield
    link_clicks.link_cache.clear()


def found(path: str, host: str) -> bool:
    answer = Client().head(path, headers={"host": host})
    assert answer.status_code in (200, 302, 404)
    return bool(answer.status_code != 404)


def where(path: str) -> dict[str, bool]:
    return {host: found(path, host) for host in HOSTS}


def where_on_loop(path: str) -> dict[str, bool]:
    """Where the event loop answers from memory; elsewhere it leaves the answer to Django."""
    scope: Scope = {"type": "http", "method": "HEAD", "path": path, "scheme": "http"}
    answers = {
        host: redirect_from_memory(EventLoopRequest({**scope, "headers": [(b"host", host.encode())]})) for host in HOSTS
    }
    return {host: answer is not None and answer.status == 302 for host, answer in answers.items()}


def a_sent_link(workspace: Workspace) -> str:
    broadcast = a_broadcast(workspace, frozen=FrozenMessage(text="{{link.0}}", links=[SALE]))
    recipient: Recipient = a_recipient(broadcast)
    return tracked_link("", broadcast.pk, recipient.contact_id, 0)


def a_file(tenant: Tenant) -> str:
    made = tenant.workspace_api.post("/media", Multipart.of(PDF, "bill.pdf")).json()["data"]
    return str(urlsplit(made["url"]).path)


def move(tenant: Tenant, to: Tenant) -> Workspace:
    return move_workspace(workspace=tenant.workspace, agency=to.agency, now=now(), by=SYSTEM)


def test_a_tracked_link_leads_on_from_its_agency_s_hosts_alone(a: Tenant) -> None:
    path = a_sent_link(a.workspace)
    assert where(path) == IS_THERE
    assert where_on_loop(path) == IS_THERE


def test_whose_host_it_is_costs_a_redirect_no_statement(a: Tenant) -> None:
    path = a_sent_link(a.workspace)
    where(path)
    with CaptureQueriesContext(connection) as queries:
        assert [found(path, host) for host in (OWN, SECOND, INSTALLATIONS)] == [True] * 3
    assert len(queries) == 0


def test_a_file_is_on_its_agency_s_hosts_alone(a: Tenant) -> None:
    assert where(a_file(a)) == IS_THERE


def test_what_was_sent_before_a_move_stays_where_it_was(a: Tenant, b: Tenant) -> None:
    link = a_sent_link(a.workspace)
    file = a_file(a)
    assert (where(link), where_on_loop(link)) == (IS_THERE,) * 2
    moved = move(a, b)
    assert (where(link), where_on_loop(link), where(file)) == (WAS_SENT_BEFORE,) * 3

    link = a_sent_link(moved)
    assert (where(link), where_on_loop(link)) == (IS_SENT_AFTERWARDS,) * 2
    assert where(a_file(a)) == IS_SENT_AFTERWARDS
    moved.refresh_from_db()
    assert list(moved.former_agencies) == [str(a.agency.pk)]


def test_a_picture_is_on_the_hosts_of_whoever_shows_it(a: Tenant, b: Tenant) -> None:
    for tenant in (a, b):
        set_picture(agency=tenant.agency, kind="logo", file=a_picture(), by=SYSTEM)
    digest = Brand.objects.get(agency=a.agency).logo_digest
    path = f"/brand/{digest}.png"
    assert where(path) == dict.fromkeys(HOSTS, True)
    remove_picture(agency=b.agency, kind="logo", by=SYSTEM)
    assert where(path) == IS_THERE


@pytest.mark.parametrize("surface", ["agency", "workspace"])
def test_an_api_key_is_good_on_its_agency_s_hosts_alone(a: Tenant, surface: str) -> None:
    api, path = (a.api, "/workspaces") if surface == "agency" else (a.workspace_api, "/contacts")
    api.get(path, host=OWN)
    answers: dict[str, Any] = {}
    statements = {}
    for host in HOSTS:
        with CaptureQueriesContext(connection) as queries:
            answers[host] = api.get(path, host=host)
        statements[host] = len(queries)
    assert {host: answer.status_code for host, answer in answers.items()} == {
        host: 200 if is_there else 401 for host, is_there in IS_THERE.items()
    }
    assert answers[OTHERS].json() == {"message": "Invalid API key."}
    assert statements[OWN] == statements[INSTALLATIONS]
    assert statements[OTHERS] == {"agency": 1, "workspace": 2}[surface], "what finds the key, and the switch"
    assert api.post(path, {}, host=OTHERS).status_code == 401
    assert api.get("/nothing", host=OTHERS).status_code == 401
    assert api.get("/nothing", host=OWN).status_code == 404

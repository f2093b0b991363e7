"""One sub-account's page: the panels that every app adds, what needs attention, and what is done from there."""

import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.limits import unlimited
from broadcasts.models import Broadcast
from channelconnect.models import ConnectSession
from config.logs import JSONFormatter
from packs.services.offered_packs import offered_packs
from tests import furnished
from tests.agency.console.browsers import PASSWORD, at_the_console, flashes, text
from tests.broadcasts.under_way import a_broadcast
from tests.channelconnect.agencies import a_session, switch_on
from tests.factories import ChannelFactory, WorkspaceFactory, WorkspaceMemberFactory, a_workspace_key
from tests.factories.webhooks import a_failed_delivery
from tests.packs.small_library import write_library
from tests.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from webhooks.services.endpoints import register_endpoint
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Channel, Workspace, WorkspaceKey
from workspaces.subaccounts.services import invite_workspace_member, suspend_workspace, tenant_of

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def library(settings: Any, tmp_path: Path) -> None:
    settings.PACK_LIBRARY = write_library(tmp_path / "library")


def path_of(tenant: Tenant) -> str:
    return f"/console/sub-accounts/{tenant.workspace.uuid}"


def path_of_install(tenant: Tenant) -> str:
    return f"{path_of(tenant)}/packs/install"


def panel(page: Any, name: str) -> str:
    """The source of one panel."""
    found = re.search(
        rf'<section class="panel[ \w]*" aria-labelledby="{name}">.*?</section>', page.content.decode(), re.S
    )
    assert found, name
    return found[0]


def an_own_endpoint(tenant: Tenant) -> Endpoint:
    return register_endpoint(
        tenant=tenant_of(tenant.workspace),
        url=f"https://93.184.215.14/{tenant.mark}",
        events=["contact.created"],
        by=SYSTEM,
    )


def a_failure(tenant: Tenant, endpoint: Endpoint) -> Delivery:
    of_workspace = {"workspace_id": tenant.workspace.pk, "workspace_uuid": tenant.workspace.uuid}
    return a_failed_delivery(tenant, endpoint, **of_workspace)


def fill(tenant: Tenant, count: int = 1) -> None:
    """Give every panel so many rows, each with the tenant's mark."""
    workspace, mark = tenant.workspace, tenant.mark
    Workspace.objects.filter(pk=workspace.pk).update(limits=unlimited())
    workspace.refresh_from_db()
    endpoint = an_own_endpoint(tenant)
    for number in range(count):
        name = f"{mark}-{number}"
        channel = ChannelFactory.create(workspace=workspace, name=f"Number {name}")
        Channel.objects.filter(pk=channel.pk).update(status="error")
        a_broadcast(channel=channel, name=f"Sale {name}", status="paused", paused_reason="No room")
        a_workspace_key(workspace, name=f"Key {name}")
        WorkspaceMemberFactory.create(workspace=workspace, name=f"Member {name}", email=f"m{number}@{mark}.example")
        invite_workspace_member(
            workspace=workspace, email=f"i{number}@{mark}.example", name=f"Guest {name}", now=now(), by=SYSTEM
        )
        a_failure(tenant, endpoint)
    Endpoint.objects.filter(pk=endpoint.pk).update(last_outcome="error")


def test_nothing_there_is_said_with_what_to_do(a: Tenant, viewer: Client) -> None:
    bare = WorkspaceFactory.create(agency=a.agency)
    bare.owner.set_password(PASSWORD)
    bare.owner.save()
    page = viewer.get(f"/console/sub-accounts/{bare.uuid}")
    for name, sentence in {
        "health": "No channel is connected.",
        "channels": "None connected.",
        "broadcasts": "None.",
        "webhooks": "None.",
        "packs": "None.",
        "people": "Nobody but the owner.",
    }.items():
        assert sentence in panel(page, name)
        assert f'href="#{name}"' in page.content.decode() or name == "health"
    ChannelFactory.create(workspace=bare)
    assert "Nothing needs attention." in panel(viewer.get(f"/console/sub-accounts/{bare.uuid}"), "health")


def test_each_panel_shows_what_the_sub_account_has(a: Tenant, viewer: Client) -> None:
    fill(a)
    page = viewer.get(path_of(a))
    key = WorkspaceKey.objects.get(workspace=a.workspace, name=f"Key {a.mark}-0")
    for name, expected in {
        "channels": [f"Number {a.mark}-0", "Not working"],
        "broadcasts": [f"Sale {a.mark}-0", "Paused", "done"],
        "people": [f"Member {a.mark}-0", f"Guest {a.mark}-0", "Invited"],
        "keys": [key.name, key.prefix, "Never used"],
        "webhooks": [f"https://93.184.215.14/{a.mark}", "Error"],
        "health": [f"Number {a.mark}-0 is disconnected", "is paused: No room", "is failing."],
    }.items():
        for words in expected:
            assert words in panel(page, name), (name, words)


def test_nothing_of_another_agency_shows(a: Tenant, b: Tenant, viewer: Client) -> None:
    fill(b)
    assert b.mark not in viewer.get(path_of(a)).content.decode()
    assert viewer.get(path_of(b)).status_code == 404


def test_panels_are_bounded_and_one_shows_more(a: Tenant, viewer: Client) -> None:
    for number in range(6):
        a_workspace_key(a.workspace, name=f"Extra {number}")
    short = panel(viewer.get(path_of(a)), "keys")
    assert short.count("<li>") == 4
    assert 'href="?panel=keys#keys"' in short
    whole = panel(viewer.get(f"{path_of(a)}?panel=keys"), "keys")
    assert whole.count("<li>") >= 6
    assert "?panel=keys" not in whole


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the page's own log writes while it is written: the request is known then, and not afterwards."""
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(JSONFormatter())
    logger = logging.getLogger("workspaces.subaccounts.pages.registry")
    logger.addHandler(handler)
    yield handler.stream
    logger.removeHandler(handler)


def test_a_part_that_cannot_be_loaded_leaves_the_rest_of_the_page(a: Tenant, viewer: Client, log: io.StringIO) -> None:
    fill(a)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE webhooks_endpoint RENAME TO endpoints_elsewhere")
    page = viewer.get(path_of(a), headers={"X-Request-ID": "a-known-request"})
    assert page.status_code == 200
    for name in ("webhooks", "health"):
        assert "This part could not be loaded." in panel(page, name)
        assert f'href="?panel={name}"' in panel(page, name)
    assert f"Number {a.mark}-0 is disconnected" in panel(page, "health")
    others = {"channels": f"Number {a.mark}-0", "broadcasts": f"Sale {a.mark}-0", "people": f"Member {a.mark}-0"}
    for name, expected in others.items():
        assert expected in panel(page, name)
        assert "could not be loaded" not in panel(page, name)
    logged = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(line["part"], line["request_id"]) for line in logged] == [("webhooks", "a-known-request")] * 2
    assert all("endpoint" in line["exception"] for line in logged)


def test_its_statements_do_not_grow_with_its_rows(
    a: Tenant, viewer: Client, django_assert_max_num_queries: Any
) -> None:
    fill(a, 6)
    viewer.get(path_of(a))
    with django_assert_max_num_queries(33):
        page = viewer.get(path_of(a))
    assert len(page.content) < 300_000


def test_a_viewer_may_look_and_open_it_but_change_nothing(a: Tenant, viewer: Client, admin: Client) -> None:
    fill(switch_on(a))
    for browser, may in ((viewer, False), (admin, True)):
        page = browser.get(path_of(a))
        for name, label in (("channels", "Connect WhatsApp"), ("channels", "Reconnect"), ("packs", "Install a pack")):
            assert (label in panel(page, name)) is may
        assert "Open Webhooks as customer" in panel(page, "webhooks")


def test_whatsapp_is_connected_by_one_button(a: Tenant, admin: Client) -> None:
    switch_on(a)
    shown = panel(admin.get(path_of(a)), "channels")
    form = re.search(r'<form method="post" action="([^"]+)">(.*?)Connect WhatsApp', shown, re.S)
    assert form
    sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[2]))
    page = admin.post(form[1], sent)
    session = ConnectSession.objects.get(workspace=a.workspace)
    assert (session.platform, session.status) == ("whatsapp", "pending")
    source = page.content.decode()
    assert f"/connect/{session.link}" in source
    assert 'src="data:image/svg+xml' in source
    assert f'href="mailto:{a.workspace.owner_email}' in source
    assert str(session.link) not in admin.get(path_of(a)).content.decode()
    assert "Connection in progress" in panel(admin.get(path_of(a)), "channels")


def test_a_lost_channel_is_reconnected_from_its_row(a: Tenant, admin: Client) -> None:
    Channel.objects.filter(pk=switch_on(a).channel.pk).update(status="error")
    shown = panel(admin.get(path_of(a)), "channels")
    assert f'name="reconnect" value="{a.channel.uuid}"' in shown
    assert f"Reconnect {a.channel.name}" in shown


def test_without_channel_connect_it_leads_to_setting_it_up(a: Tenant, admin: Client) -> None:
    shown = panel(admin.get(path_of(a)), "channels")
    assert "Set up Channel connect" in shown
    assert "Connect WhatsApp" not in shown


def test_a_failed_delivery_is_opened_as_customer(a: Tenant, viewer: Client) -> None:
    delivery = a_failure(a, an_own_endpoint(a))
    there = f"/app/webhooks/deliveries/{delivery.uuid}"
    assert f'name="page" value="{there}"' in panel(viewer.get(path_of(a)), "webhooks")
    answer = viewer.post(f"{path_of(a)}/open", {"page": there})
    assert answer["Location"] == there
    assert viewer.get(there).status_code == 200


@pytest.mark.parametrize("page", ["https://evil.example/app/", "//evil.example/app/", "/console/", "/app/../console/"])
def test_opening_leads_nowhere_else(a: Tenant, viewer: Client, page: str) -> None:
    assert viewer.post(f"{path_of(a)}/open", {"page": page})["Location"] == "/app/"


def test_a_suspended_sub_account_is_shown_without_ways_in(a: Tenant, admin: Client) -> None:
    fill(switch_on(a))
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    page = admin.get(path_of(a))
    assert page.status_code == 200
    for label in ("as customer", "Connect WhatsApp", "Reconnect", "Install a pack"):
        assert label not in page.content.decode()
    assert f"Sale {a.mark}-0" in panel(page, "broadcasts")


def test_a_deleted_sub_account_has_no_page(a: Tenant, admin: Client) -> None:
    path = path_of(a)
    uuid = str(a.workspace.uuid)
    assert admin.get(path.replace(uuid, "00000000-0000-4000-8000-000000000000")).status_code == 404


def test_a_pack_is_installed_and_shown(a: Tenant, admin: Client) -> None:
    assert a.channel.platform == "whatsapp"  # the first channel brings the starter pack
    held = set(Automation.objects.filter(workspace=a.workspace).values_list("from_pack", flat=True))
    assert held
    chosen = next(pack for pack in offered_packs(a.workspace) if pack.is_platform and pack.uuid not in held)
    assert chosen.name in text(admin.get(path_of_install(a)))
    answer = admin.post(path_of_install(a), {"pack": str(chosen.uuid)}, follow=True)
    added = Automation.objects.filter(workspace=a.workspace, from_pack=chosen.uuid)
    assert [automation.enabled for automation in added] == [False]
    assert flashes(answer) == [f"1 automation was added to {a.workspace.name}, switched off."]
    assert f"{chosen.name} <span" in panel(answer, "packs")
    again = admin.post(path_of_install(a), {"pack": str(chosen.uuid)}, follow=True)
    assert "Nothing was added" in flashes(again)[0]


def test_a_connection_under_way_is_cancelled_from_its_row(a: Tenant, admin: Client) -> None:
    session = a_session(switch_on(a))
    assert f"/connections/{session.uuid}/cancel" in panel(admin.get(path_of(a)), "channels")


def test_a_running_broadcast_shows_how_far_it_is(a: Tenant) -> None:
    broadcast = a_broadcast(channel=a.channel, name="Spring")
    assert broadcast.status == Broadcast.Status.SENDING
    shown = panel(at_the_console(a.agency, "owner").get(path_of(a)), "broadcasts")
    assert "Sending" in shown
    assert f"/console/broadcasts/{broadcast.uuid}" in shown

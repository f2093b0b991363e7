"""Channels and people as tables: sorted, narrowed and paged by the address alone."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ChannelFactory, WorkspaceMemberFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import disconnect_channel

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
CHANNELS, PEOPLE = "/app/channels", "/app/people"


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def leads(page: Any) -> list[str]:
    """What stands first in each row."""
    found = re.findall(r'<div class="lead">([^<]*?)\s*<', page.content.decode().partition("<tbody>")[2])
    return [one.removesuffix(" ") for one in found]


def statements(browser: Client, page: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        browser.get(page)
    return len(asked)


@pytest.fixture
def three_channels(a: Tenant) -> None:
    Channel.objects.all().delete()
    for platform, name in (("whatsapp", "Front"), ("instagram", "Back"), ("whatsapp", "Cellar")):
        ChannelFactory.create(workspace=a.workspace, platform=platform, name=name)
    disconnect_channel(channel=Channel.objects.get(name="Cellar"), now=now(), by=SYSTEM)


@pytest.mark.usefixtures("three_channels")
def test_channels_are_sorted_and_narrowed(owner: Client) -> None:
    for query, expected in (
        ("", ["Front", "Back", "Cellar"]),
        ("?sort=-connected", ["Cellar", "Back", "Front"]),
        ("?sort=name", ["Back", "Cellar", "Front"]),
        ("?sort=-name", ["Front", "Cellar", "Back"]),
        ("?sort=type", ["Back", "Front", "Cellar"]),
        ("?sort=state", ["Front", "Back", "Cellar"]),
        ("?type=whatsapp", ["Front", "Cellar"]),
        ("?type=whatsapp&state=active", ["Front"]),
        ("?state=disconnected", ["Cellar"]),
        ("?type=sms", []),
        ("?type=pigeon&state=%00", ["Front", "Back", "Cellar"]),
    ):
        assert leads(owner.get(CHANNELS + query)) == expected, query
    assert "No channel matches" in text(owner.get(f"{CHANNELS}?type=sms"))
    assert 'aria-sort="descending"' in owner.get(f"{CHANNELS}?sort=-name").content.decode()


@pytest.mark.usefixtures("three_channels")
def test_a_list_of_channels_costs_the_same_however_long_it_is(a: Tenant, owner: Client) -> None:
    owner.get(CHANNELS)
    few = statements(owner, CHANNELS)
    for _ in range(5):
        ChannelFactory.create(workspace=a.workspace)
    assert statements(owner, CHANNELS) == few
    assert few == 10  # two of them ask whether customers connect channels themselves, one when they asked for it


def members(workspace: Workspace, *names: str) -> None:
    for name in names:
        WorkspaceMemberFactory.create(workspace=workspace, name=name, email=f"{name.lower()}@example.org")


def test_people_are_found_and_sorted_with_the_owner_before_all_others(a: Tenant, owner: Client) -> None:
    members(a.workspace, "Nora", "Emil")
    boss = a.workspace.owner_name
    for query, expected in (
        ("", [boss, "Nora", "Emil"]),
        ("?sort=person", [boss, "Emil", "Nora"]),
        ("?sort=-person", [boss, "Nora", "Emil"]),
        ("?sort=-since", [boss, "Emil", "Nora"]),
        ("?search=EMIL", ["Emil"]),
        ("?search=nora@ex", ["Nora"]),
        (f"?search={a.workspace.owner_email.upper()}", [boss]),
        ("?search=nobody", []),
        ("?search=%00", []),
        ("?search=%25", []),
    ):
        assert leads(owner.get(PEOPLE + query)) == expected, query
    assert "Nobody matches" in text(owner.get(f"{PEOPLE}?search=nobody"))
    assert "Owner —" in text(owner.get(PEOPLE))


def test_pages_of_people_count_the_owner_once(a: Tenant, owner: Client) -> None:
    members(a.workspace, *(f"P{number:02}" for number in range(30)))
    first, second = owner.get(f"{PEOPLE}?sort=person"), owner.get(f"{PEOPLE}?sort=person&page=2")
    assert leads(first) == [a.workspace.owner_name, *(f"P{number:02}" for number in range(24))]
    assert leads(second) == [f"P{number:02}" for number in range(24, 30)]
    assert "1\u201325 of 31" in text(first)
    assert "26\u201331 of 31" in text(second)


def test_a_list_of_people_costs_the_same_however_long_it_is(a: Tenant, owner: Client) -> None:
    members(a.workspace, "Nora")
    owner.get(PEOPLE)
    few = statements(owner, PEOPLE)
    members(a.workspace, "Emil", "Ida", "Otto")
    assert statements(owner, PEOPLE) == few
    assert few == 10

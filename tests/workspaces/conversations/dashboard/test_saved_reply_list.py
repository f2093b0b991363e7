"""The list of saved replies: found by name or text, in two orders."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.agency.console.browsers import text
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.conversations.services import create_saved_reply

pytestmark = pytest.mark.django_db
LIST = "/app/saved-replies"


@pytest.fixture
def owner(a: Tenant, b: Tenant) -> Client:
    for number, (name, reply) in enumerate((("Hours", "Nine to six."), ("Ärger", "Sorry!"), ("prices", "100 % fair"))):
        made_at = now() - timedelta(hours=number)
        create_saved_reply(workspace=a.workspace, name=name, text=reply, now=made_at, by=SYSTEM)
    create_saved_reply(workspace=b.workspace, name="Hours of others", text="Never.", now=now(), by=SYSTEM)
    return dashboard_client(a.workspace)


def names(owner: Client, query: str) -> list[str]:
    return re.findall(
        r'<a class="lead" href="/app/saved-replies/[^"]*">([^<]*)<', owner.get(LIST + query).content.decode()
    )


def test_replies_are_found_by_name_or_text_and_sorted(owner: Client) -> None:
    for query, expected in (
        ("", ["Hours", "prices", "Ärger"]),
        ("?sort=-name", ["Ärger", "prices", "Hours"]),
        ("?sort=-changed", ["Hours", "Ärger", "prices"]),
        ("?sort=changed", ["prices", "Ärger", "Hours"]),
        ("?search=ÄRGER", ["Ärger"]),
        ("?search=nine", ["Hours"]),
        ("?search=%25", ["prices"]),
        ("?search=_", []),
        ("?search=%00", []),
        ("?search=others", []),
    ):
        assert names(owner, query) == expected, query
    assert "No saved reply matches" in text(owner.get(f"{LIST}?search=others"))


def test_the_list_costs_the_same_however_long_it_is(a: Tenant, owner: Client) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as asked:
            owner.get(f"{LIST}?search=e")
        return len(asked)

    cost()
    few = cost()
    for number in range(10):
        create_saved_reply(workspace=a.workspace, name=f"More {number}", text="e", now=now(), by=SYSTEM)
    assert cost() == few
    assert few == 7

"""The REST API tile: keys are shown once, work at once, and work no longer from the moment they are revoked."""

import re
from typing import Any

import pytest
from django.test import Client

from tests.agency.console.browsers import flashes, hidden, text
from tests.parallel import at_once
from tests.tenants import Tenant, an_address
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.subaccounts.models import WorkspaceKey
from workspaces.subaccounts.services.keys import MOST_KEYS

pytestmark = pytest.mark.django_db
LIST, NEW = "/app/api", "/app/api/new"
PLAINTEXT = re.compile(r"svc_[0-9A-Za-z]{40}")


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def make(owner: Client, name: str) -> Any:
    nonce = hidden(owner.get(NEW), "nonce")
    return owner.post(NEW, {"name": name, "nonce": nonce})


def call_with(key: str) -> tuple[int, str]:
    answer = Client(REMOTE_ADDR=an_address()).get("/api/v1/workspace", headers={"x-api-key": key})
    return answer.status_code, answer.json().get("message", "")


def live_keys(a: Tenant) -> int:
    return WorkspaceKey.objects.filter(workspace=a.workspace, revoked_at=None).count()


def fill(a: Tenant, left: int) -> None:
    rows = (
        WorkspaceKey(workspace=a.workspace, name=f"Key {n}", key_hash=bytes([n]) * 32, prefix=f"svc_{n:08}")
        for n in range(live_keys(a), MOST_KEYS - left)
    )
    WorkspaceKey.objects.bulk_create(rows)


def test_a_key_is_shown_once_and_works_until_it_is_revoked(a: Tenant, owner: Client) -> None:
    answer = make(owner, "Shop")

    [plaintext] = set(PLAINTEXT.findall(answer.content.decode()))
    assert call_with(plaintext) == (200, "")
    shown = owner.get(LIST)
    assert "Shop" in text(shown)
    assert not PLAINTEXT.search(shown.content.decode())
    key = WorkspaceKey.objects.get(name="Shop")
    answer = owner.post(f"/app/api/{key.uuid}/revoke", {"confirm": "on"}, follow=True)
    assert flashes(answer) == ["Shop was revoked. Calls with it are refused from now on."]
    assert call_with(plaintext) == (401, "Invalid API key.")


def test_the_form_of_a_key_leads_back_to_the_list(owner: Client) -> None:
    assert f'<li><a href="{LIST}">REST API</a></li>' in owner.get(NEW).content.decode()


def test_there_is_no_51st_key(a: Tenant, owner: Client) -> None:
    fill(a, left=1)

    assert PLAINTEXT.search(make(owner, "The last").content.decode())
    answer = make(owner, "One more")

    assert "A workspace has at most 50 live API keys. Revoke one first." in text(answer)
    assert not PLAINTEXT.search(answer.content.decode())
    assert live_keys(a) == MOST_KEYS


@pytest.mark.django_db(transaction=True)
def test_there_is_no_51st_key_for_those_who_ask_at_once_either(a: Tenant) -> None:
    fill(a, left=2)
    browsers = [dashboard_client(a.workspace) for _ in range(5)]
    nonces = [hidden(browser.get(NEW), "nonce") for browser in browsers]

    def ask(number: int) -> bool:
        answer = browsers[number].post(NEW, {"name": f"Mine {number}", "nonce": nonces[number]})
        return PLAINTEXT.search(answer.content.decode()) is not None

    assert sum(at_once(ask, times=5, threads=5)) == 2
    assert live_keys(a) == MOST_KEYS

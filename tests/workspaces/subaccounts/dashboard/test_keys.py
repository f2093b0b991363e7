"""The REST API tile: keys are shown once, work at once, and work no longer from the moment they are revoked."""

import re
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from tests.agency.console.browsers import flashes, hidden, text
from tests.parallel import at_once
from tests.tenants import Tenant, an_address
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client, member_client
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


def test_a_key_may_end_and_be_for_some_networks_alone(a: Tenant, owner: Client) -> None:
    nonce = hidden(owner.get(NEW), "nonce")
    tomorrow = (now() + timedelta(days=1)).date()
    fields = {"expires_at": tomorrow.isoformat(), "allowed_networks": "192.0.2.7\r\n2001:db8::/32, 198.51.100.0/24"}
    [plaintext] = set(PLAINTEXT.findall(owner.post(NEW, {"name": "Till", "nonce": nonce, **fields}).content.decode()))

    key = WorkspaceKey.objects.get(name="Till")
    assert key.expires_at == datetime.combine(tomorrow + timedelta(days=1), time(), UTC)
    assert key.allowed_networks == ["192.0.2.7/32", "2001:db8::/32", "198.51.100.0/24"]
    assert call_with(plaintext) == (200, "")
    outside = Client(REMOTE_ADDR="203.0.113.1").get("/api/v1/workspace", headers={"x-api-key": plaintext})
    assert outside.status_code == 401
    shown = text(owner.get(LIST))
    assert "From 192.0.2.7/32, 2001:db8::/32, 198.51.100.0/24" in shown
    assert "Live expires" in shown
    WorkspaceKey.objects.filter(pk=key.pk).update(expires_at=now() - timedelta(hours=2))
    assert "Expired 2 hours ago" in text(owner.get(LIST))
    assert owner.get(f"/app/api/{key.uuid}/revoke").status_code == 404


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("expires_at", "2020-01-01", "An API key expires in the future, at most ten years ahead."),
        ("expires_at", "9999-12-31", "An API key expires in the future, at most ten years ahead."),
        ("allowed_networks", "10.0.0.1/8", "“10.0.0.1/8” is neither an address nor a network."),
        ("allowed_networks", "\n".join(f"192.0.2.{n}" for n in range(21)), "There may be at most 20 networks."),
    ],
)
def test_what_is_no_limit_of_a_key_is_said_beside_the_field(owner: Client, field: str, value: str, said: str) -> None:
    nonce = hidden(owner.get(NEW), "nonce")
    answer = owner.post(NEW, {"name": "Till", "nonce": nonce, field: value})
    assert said in text(answer)
    assert not WorkspaceKey.objects.filter(name="Till").exists()


def test_a_rolled_key_is_shown_once_and_the_old_one_ends_as_chosen(a: Tenant, owner: Client) -> None:
    [old] = set(PLAINTEXT.findall(make(owner, "Shop").content.decode()))
    first = WorkspaceKey.objects.get(name="Shop")
    path = f"/app/api/{first.uuid}/roll"
    asked = owner.get(path)
    assert "Roll Shop?" in text(asked)
    answer = owner.post(path, {"overlap": "24", "nonce": hidden(asked, "nonce")})
    [new] = set(PLAINTEXT.findall(answer.content.decode()))

    assert "Shop was rolled" in text(answer)
    assert "The old key works until" in text(answer)
    assert [call_with(key)[0] for key in (old, new)] == [200, 200]
    assert "Rolled works until" in text(owner.get(LIST))
    assert f"{first.uuid}/roll" not in owner.get(LIST).content.decode()
    assert owner.get(path).status_code == 200
    again = owner.post(path, {"overlap": "0", "nonce": hidden(owner.get(path), "nonce")})
    assert "This API key was rolled already." in text(again)

    second = WorkspaceKey.objects.get(name="Shop", replaced_by=None)
    path = f"/app/api/{second.uuid}/roll"
    answer = owner.post(path, {"overlap": "0", "nonce": hidden(owner.get(path), "nonce")})
    assert "The old key no longer works." in text(answer)
    assert [call_with(key)[0] for key in (old, new)] == [401, 401]


def test_only_the_owner_rolls(a: Tenant, b: Tenant, owner: Client) -> None:
    make(owner, "Shop")
    path = f"/app/api/{WorkspaceKey.objects.get(name='Shop').uuid}/roll"
    member = member_client(a.workspace)
    assert member.get(path).status_code == 403
    assert member.post(path, {"overlap": "0"}).status_code == 403
    assert dashboard_client(b.workspace).get(path).status_code == 404

"""The keys of a sub-account, made, listed, rolled and revoked by its agency."""

import io
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests.factories import a_workspace_key, an_agency_key
from tests.parallel import at_once
from tests.tenants import AGENCY_BASE, WORKSPACE_BASE, Api, Tenant
from workspaces.subaccounts.models import WorkspaceKey
from workspaces.subaccounts.services import revoke_workspace_key
from workspaces.subaccounts.services.keys import MOST_KEYS

pytestmark = pytest.mark.django_db
PLAINTEXT = re.compile(r"svc_[0-9A-Za-z]{40}")
REFUSED = {"message": "This API key may not make workspace keys."}
FIELDS = ["uuid", "name", "prefix", "expires_at", "allowed_networks", "created_by", "created_at", "last_used_at"]


@pytest.fixture
def maker(a: Tenant) -> Api:
    return a.key_making_api


@pytest.fixture
def path(a: Tenant) -> str:
    return f"{a.path}/api-keys"


def made(maker: Api, path: str, **fields: Any) -> dict[str, Any]:
    answer = maker.post(path, {"name": "Shop", **fields})
    assert answer.status_code == 201, answer.content
    data: dict[str, Any] = answer.json()["data"]
    return data


def call_with(key: str, address: str | None = None) -> tuple[int, str]:
    answer = Api(WORKSPACE_BASE, key, address).get("/workspace")
    return answer.status_code, answer.json().get("message", "")


def test_a_key_is_made_and_shown_once(a: Tenant, maker: Api, path: str) -> None:
    key = made(maker, path, name="  Shop ")

    assert list(key) == [*FIELDS, "key"]
    assert PLAINTEXT.fullmatch(key["key"])
    assert (key["name"], key["prefix"]) == ("Shop", key["key"][:12])
    assert (key["expires_at"], key["allowed_networks"], key["last_used_at"]) == (None, [], None)
    assert Api(WORKSPACE_BASE, key["key"]).get("/workspace").json()["data"]["id"] == str(a.workspace.uuid)
    for answer in (maker.get(path), maker.get(f"{path}/{key['uuid']}")):
        assert not PLAINTEXT.search(answer.content.decode())
    [shown] = [one for one in maker.get(path).json()["data"] if one["uuid"] == key["uuid"]]
    assert shown["last_used_at"]
    assert {name: value for name, value in shown.items() if name != "last_used_at"} == {
        name: key[name] for name in FIELDS if name != "last_used_at"
    }
    entry = ActivityEntry.objects.get(action="workspace_key.created", workspace_uuid=a.workspace.uuid)
    assert (entry.actor_kind, entry.details["prefix"]) == ("agency_key", key["prefix"])
    assert key["key"] not in str(list(ActivityEntry.objects.values()))


def test_the_newest_key_is_listed_first_and_only_live_ones_are(a: Tenant, maker: Api, path: str) -> None:
    first, second, third = (made(maker, path, name=name)["uuid"] for name in ("One", "Two", "Three"))
    revoke_workspace_key(key=WorkspaceKey.objects.get(uuid=second), now=now(), by=SYSTEM)
    WorkspaceKey.objects.filter(uuid=first).update(expires_at=now() - timedelta(seconds=1))

    assert [key["uuid"] for key in maker.get(path).json()["data"]] == [third]
    for gone in (first, second):
        assert maker.get(f"{path}/{gone}").json() == {"message": "API key not found."}


def test_making_and_rolling_need_the_ability_and_say_so_before_anything_is_looked_up(a: Tenant, path: str) -> None:
    key, _ = a_workspace_key(a.workspace)
    for refused in (
        a.api.post(path, {"name": "Shop"}),
        a.api.post(path, {"name": "", "scopes": []}),
        a.api.post(f"/workspaces/{uuid4()}/api-keys", {"name": "Shop"}),
        a.api.post(f"{path}/{key.uuid}/roll"),
        a.api.post(f"{path}/{uuid4()}/roll"),
    ):
        assert (refused.status_code, refused.json()) == (403, REFUSED)
    assert WorkspaceKey.objects.filter(workspace=a.workspace).count() == 1


def test_reading_and_revoking_need_no_ability(a: Tenant, path: str) -> None:
    key, plaintext = a_workspace_key(a.workspace)

    assert [one["uuid"] for one in a.api.get(path).json()["data"]] == [str(key.uuid)]
    assert a.api.get(f"{path}/{key.uuid}").json()["data"]["prefix"] == key.prefix
    answer = a.api.delete(f"{path}/{key.uuid}")

    assert (answer.status_code, answer.json()) == (200, {"data": {"revoked": True}})
    assert call_with(plaintext) == (401, "Invalid API key.")
    assert a.api.delete(f"{path}/{key.uuid}").json() == {"message": "API key not found."}


def test_what_a_key_cannot_have_is_refused_and_not_left_out(a: Tenant, maker: Api, path: str) -> None:
    for field in ("scopes", "scope", "expires", "allowed_ips", "key", "\ud800", ""):
        answer = maker.post(path, {"name": "Shop", field: ["contacts:read"]})
        assert answer.status_code == 422, field
        assert answer.json()["errors"]
    scopes = maker.post(path, {"name": "Shop", "scopes": None}).json()
    assert scopes["errors"] == {"scopes": ["Scopes cannot be chosen yet: a key may do everything."]}
    assert maker.post(path, {"name": "Shop", "colour": 1}).json()["errors"] == {
        "colour": ["The colour field is not known."]
    }
    key, _ = a_workspace_key(a.workspace)
    bodies: list[dict[str, Any]] = [{"scopes": []}, {"name": "Other"}, {"overlap_hours": 5}]
    for body in bodies:
        assert maker.post(f"{path}/{key.uuid}/roll", body).status_code == 422
    assert WorkspaceKey.objects.filter(workspace=a.workspace).count() == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"expires_at": "2026-12-01T00:00:00"}, "expires_at"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "9999-12-31T23:59:59-14:00"}, "expires_at"),
        ({"expires_at": "0001-01-01T00:00:00+14:00"}, "expires_at"),
        ({"allowed_networks": "10.0.0.0/8"}, "allowed_networks"),
        ({"allowed_networks": ["10.0.0.0/33"]}, "allowed_networks.0"),
        ({"allowed_networks": ["192.0.2.0/24", "10.0.0.1/8"]}, "allowed_networks.1"),
        ({"allowed_networks": ["::ffff:192.0.2.0/120"]}, "allowed_networks.0"),
        ({"allowed_networks": ["fe80::1%eth0"]}, "allowed_networks.0"),
        ({"allowed_networks": ["0x7f.1"]}, "allowed_networks.0"),
        ({"allowed_networks": [7]}, "allowed_networks.0"),
        ({"allowed_networks": [f"192.0.2.{n}" for n in range(21)]}, "allowed_networks"),
    ],
)
def test_what_is_no_key_is_refused(a: Tenant, maker: Api, path: str, body: dict[str, Any], field: str) -> None:
    answer = maker.post(path, body if field == "name" else {"name": "Shop", **body})
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    assert not WorkspaceKey.objects.filter(workspace=a.workspace).exists()


def test_a_key_works_until_it_expires_by_the_database_s_clock(maker: Api, path: str) -> None:
    key = made(maker, path, expires_at=(now() + timedelta(hours=1)).isoformat())
    assert call_with(key["key"]) == (200, "")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE subaccounts_workspacekey SET expires_at = statement_timestamp(), last_used_at = NULL")
    assert call_with(key["key"]) == (401, "Invalid API key.")
    assert WorkspaceKey.objects.get(uuid=key["uuid"]).last_used_at is None


@pytest.mark.parametrize(
    ("networks", "inside", "outside"),
    [
        (["192.0.2.0/24", "2001:db8:7::/48"], "192.0.2.255", "192.0.3.0"),
        (["192.0.2.0/24", "2001:db8:7::/48"], "2001:db8:7:ffff::1", "2001:db8:8::1"),
        (["192.0.2.7"], "::ffff:192.0.2.7", "192.0.2.8"),
        (["2001:db8::5"], "2001:db8::5", "2001:db8::6"),
        (["0.0.0.0/0"], "203.0.113.9", "2001:db8::6"),
        (["::/0"], "2001:db8::6", "no address"),
    ],
)
def test_a_key_with_networks_works_from_there_alone(
    maker: Api, path: str, networks: list[str], inside: str, outside: str
) -> None:
    key = made(maker, path, allowed_networks=networks)

    assert call_with(key["key"], outside) == (401, "Invalid API key.")
    assert WorkspaceKey.objects.get(uuid=key["uuid"]).last_used_at is None
    assert call_with(key["key"], inside) == (200, "")


def test_networks_are_kept_in_one_spelling_and_each_once(maker: Api, path: str) -> None:
    given = ["192.0.2.7", " 192.0.2.7/32 ", "2001:DB8:0::/48"]
    assert made(maker, path, allowed_networks=given)["allowed_networks"] == ["192.0.2.7/32", "2001:db8::/48"]
    assert made(maker, path, allowed_networks=None, expires_at=None)["allowed_networks"] == []


def test_there_is_no_51st_key(a: Tenant, maker: Api, path: str) -> None:
    rows = [
        WorkspaceKey(workspace=a.workspace, name="K", key_hash=bytes([n]) * 32, prefix=f"svc_{n:08}")
        for n in range(MOST_KEYS)
    ]
    WorkspaceKey.objects.bulk_create(rows)
    answer = maker.post(path, {"name": "One more"})
    assert (answer.status_code, answer.json()) == (
        403,
        {"message": "A workspace has at most 50 live API keys. Revoke one first."},
    )
    WorkspaceKey.objects.filter(pk=rows[0].pk).update(expires_at=now() - timedelta(days=1))
    assert maker.post(path, {"name": "One more"}).status_code == 201


# The same request again ------------------------------------------------------------------------------------------


def everything_stored(table: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT coalesce(string_agg(t::text || encode(t.body, 'escape'), ''), '') FROM {table} t")  # noqa: S608  # a name of ours
        return str(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_the_same_key_and_body_show_the_same_plaintext_which_is_stored_nowhere_in_clear(maker: Api, path: str) -> None:
    answers = [maker.post(path, {"name": "Shop"}, idempotency_key="once") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert answers[1]["Idempotent-Replayed"] == "true"
    plaintext = answers[0].json()["data"]["key"]
    assert WorkspaceKey.objects.filter(name="Shop").count() == 1
    assert plaintext not in everything_stored("api_idempotencyrecord")
    other = maker.post(path, {"name": "Other"}, idempotency_key="once")
    assert other.status_code == 409


@pytest.mark.django_db(transaction=True)
def test_what_was_shown_once_is_not_shown_again_to_a_key_without_the_ability(a: Tenant, maker: Api, path: str) -> None:
    maker.post(path, {"name": "Shop"}, idempotency_key="once")
    again = a.api.post(path, {"name": "Shop"}, idempotency_key="once")
    assert (again.status_code, again.json()) == (403, REFUSED)


@pytest.mark.django_db(transaction=True)
def test_a_revoked_key_is_not_shown_again(maker: Api, path: str) -> None:
    key = maker.post(path, {"name": "Shop"}, idempotency_key="once").json()["data"]
    maker.delete(f"{path}/{key['uuid']}")
    again = maker.post(path, {"name": "Shop"}, idempotency_key="once")
    assert (again.status_code, again.json()) == (404, {"message": "API key not found."})


@pytest.mark.django_db(transaction=True)
def test_after_a_rotation_of_the_encryption_keys_a_key_is_shown_again(maker: Api, path: str, settings: Any) -> None:
    other = {"name": 'no "sealed": member'}
    sent = [(path, {"name": "Shop"}, "once"), (f"{AGENCY_BASE}/plans", {**other, "limits": {}}, "other")]
    first = [maker.post(where, body, idempotency_key=key) for where, body, key in sent]
    assert [answer.status_code for answer in first] == [201, 201]
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.FIELD_ENCRYPTION_KEYS]
    shown = [io.StringIO(), io.StringIO()]
    for out in shown:
        call_command("rotate_encryption_keys", stdout=out)
    settings.FIELD_ENCRYPTION_KEYS = settings.FIELD_ENCRYPTION_KEYS[:1]
    again = [maker.post(where, body, idempotency_key=key) for where, body, key in sent]
    assert [answer.json() for answer in again] == [answer.json() for answer in first]
    assert PLAINTEXT.fullmatch(again[0].json()["data"]["key"])
    stored = "api.IdempotencyRecord.body: "
    assert f"{stored}1 re-encrypted, 0 current" in shown[0].getvalue()
    assert f"{stored}0 re-encrypted, 1 current" in shown[1].getvalue()


@pytest.mark.django_db(transaction=True)
def test_after_the_encryption_keys_were_replaced_a_key_is_no_longer_shown(maker: Api, path: str, settings: Any) -> None:
    maker.post(path, {"name": "Shop"}, idempotency_key="once")
    settings.FIELD_ENCRYPTION_KEYS = ["x" * 43 + "="]
    again = maker.post(path, {"name": "Shop"}, idempotency_key="once")
    assert (again.status_code, again.json()["message"]) == (409, "This key can no longer be shown. Make another one.")


# Rolled ----------------------------------------------------------------------------------------------------------


def test_a_rolled_key_ends_at_once_unless_asked_otherwise(a: Tenant, maker: Api, path: str) -> None:
    old = made(maker, path, allowed_networks=["2001:db8::/32"])
    answer = maker.post(f"{path}/{old['uuid']}/roll")
    new = answer.json()["data"]

    assert answer.status_code == 201
    assert list(new) == [*FIELDS, "key", "old_valid_until"]
    assert (new["name"], new["allowed_networks"]) == (old["name"], old["allowed_networks"])
    assert new["uuid"] != old["uuid"]
    assert call_with(old["key"]) == (401, "Invalid API key.")
    assert call_with(new["key"]) == (200, "")
    assert call_with(new["key"], "192.0.2.1")[0] == 401
    entry = ActivityEntry.objects.get(action="workspace_key.rolled")
    assert entry.details["prefix"] == new["prefix"]
    assert new["key"] not in str(entry.details)


def test_for_a_while_both_work(maker: Api, path: str) -> None:
    old = made(maker, path)
    until = now() + timedelta(days=6, hours=23)
    new = maker.post(f"{path}/{old['uuid']}/roll", {"old_valid_until": until.isoformat()}).json()["data"]

    assert new["old_valid_until"] == until.isoformat().replace("+00:00", "Z")
    assert [call_with(one["key"])[0] for one in (old, new)] == [200, 200]
    shown = {key["uuid"]: key["expires_at"] for key in maker.get(path).json()["data"]}
    assert (shown[old["uuid"]], shown[new["uuid"]]) == (new["old_valid_until"], None)
    WorkspaceKey.objects.filter(uuid=old["uuid"]).update(expires_at=now() - timedelta(seconds=1))
    assert [call_with(one["key"])[0] for one in (old, new)] == [401, 200]


@pytest.mark.parametrize("off", [timedelta(days=7, minutes=5), timedelta(days=-1)])
def test_the_old_key_is_valid_for_seven_days_at_most(maker: Api, path: str, off: timedelta) -> None:
    old = made(maker, path)
    answer = maker.post(f"{path}/{old['uuid']}/roll", {"old_valid_until": (now() + off).isoformat()})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["old_valid_until"])
    assert call_with(old["key"]) == (200, "")


def test_a_key_is_rolled_once_and_the_next_roll_ends_what_was_left_of_the_one_before(maker: Api, path: str) -> None:
    until = {"old_valid_until": (now() + timedelta(days=2)).isoformat()}
    first = made(maker, path)
    second = maker.post(f"{path}/{first['uuid']}/roll", until).json()["data"]
    again = maker.post(f"{path}/{first['uuid']}/roll", until)
    assert (again.status_code, again.json()) == (409, {"message": "This API key was rolled already."})

    third = maker.post(f"{path}/{second['uuid']}/roll", until).json()["data"]
    assert [call_with(one["key"])[0] for one in (first, second, third)] == [401, 200, 200]


def test_a_roll_never_prolongs_a_key_and_the_new_one_lasts_as_long_as_the_old_one_was_to(maker: Api, path: str) -> None:
    old = made(maker, path, expires_at=(now() + timedelta(days=30)).isoformat())
    WorkspaceKey.objects.filter(uuid=old["uuid"]).update(
        created_at=now() - timedelta(days=29), expires_at=now() + timedelta(days=1)
    )
    until = {"old_valid_until": (now() + timedelta(days=3)).isoformat()}
    new = maker.post(f"{path}/{old['uuid']}/roll", until).json()["data"]

    ends = {key.uuid.hex: key.expires_at for key in WorkspaceKey.objects.filter(name="Shop")}
    assert ends[old["uuid"].replace("-", "")] < now() + timedelta(days=1)
    last = ends[new["uuid"].replace("-", "")]
    assert last is not None
    assert abs(last - (now() + timedelta(days=30))) < timedelta(minutes=1)


@pytest.mark.django_db(transaction=True)
def test_of_many_rolls_at_once_one_is_done(maker: Api, path: str) -> None:
    old = made(maker, path)
    answers = at_once(lambda _: maker.post(f"{path}/{old['uuid']}/roll").status_code, times=4)
    assert sorted(answers)[0] == 201
    assert all(status in (404, 409) for status in sorted(answers)[1:])
    assert WorkspaceKey.objects.filter(name="Shop").count() == 2


@pytest.mark.django_db(transaction=True)
def test_the_same_roll_again_shows_the_same_key(maker: Api, path: str) -> None:
    old = made(maker, path)
    answers = [maker.post(f"{path}/{old['uuid']}/roll", idempotency_key="roll") for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["data"]["key"] not in everything_stored("api_idempotencyrecord")


def test_a_rolled_key_counts_once_among_the_fifty(a: Tenant, maker: Api, path: str) -> None:
    rows = [
        WorkspaceKey(workspace=a.workspace, name="K", key_hash=bytes([n]) * 32, prefix=f"svc_{n:08}")
        for n in range(MOST_KEYS)
    ]
    WorkspaceKey.objects.bulk_create(rows)
    until = {"old_valid_until": (now() + timedelta(days=2)).isoformat()}
    assert maker.post(f"{path}/{rows[0].uuid}/roll", until).status_code == 201


# The agency's own ------------------------------------------------------------------------------------------------


def test_an_agency_s_key_expires_and_has_networks_too(a: Tenant) -> None:
    key, plaintext = an_agency_key(a.agency, expires_at=now() + timedelta(hours=1), allowed_networks=["192.0.2.0/24"])
    inside, outside = (Api(AGENCY_BASE, plaintext, address) for address in ("192.0.2.1", "198.51.100.1"))
    refused = outside.get("/plans")
    assert (refused.status_code, refused.json()) == (401, {"message": "Invalid API key."})
    key.refresh_from_db()
    assert key.last_used_at is None
    assert inside.get("/plans").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("UPDATE agency_agencykey SET expires_at = statement_timestamp() WHERE id = %s", [key.pk])
    refused = inside.get("/plans")
    assert (refused.status_code, refused.json()) == (401, {"message": "Invalid API key."})


def test_the_database_keeps_no_network_that_is_none(a: Tenant) -> None:
    key, _ = a_workspace_key(a.workspace)
    with pytest.raises(Exception, match="cidr"):
        WorkspaceKey.objects.filter(pk=key.pk).update(allowed_networks=["nowhere"])

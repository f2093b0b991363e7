"""The workspace surface's api: who may come in, in which order that is asked, and the first endpoint behind it."""

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.services import restore_agency, set_switch, suspend_agency
from config.api.keys import new_key
from tests.factories import ChannelFactory, WorkspaceFactory, a_workspace_key
from tests.parallel import at_once
from tests.tenants import WORKSPACE_BASE, Api, Tenant, an_address, message
from workspaces.subaccounts.models import WorkspaceKey
from workspaces.subaccounts.services import revoke_workspace_key, suspend_workspace

MISSING = 'API key missing. Send it as the "x-api-key" header or a Bearer token.'
INVALID = "Invalid API key."
GONE = "The workspace for this API key no longer exists."
SUSPENDED = "This workspace is suspended."
DISABLED = "API access is disabled for this installation."


def status_and_body(response: Any) -> tuple[int, dict[str, str]]:
    return response.status_code, json.loads(response.content)


def turn_off() -> None:
    set_switch(name="workspace_api", enabled=False, reason="", by=SYSTEM)


def test_a_key_is_taken_from_either_header_and_x_api_key_wins(a: Tenant, nobody_of_a_workspace: Api) -> None:
    api, key = nobody_of_a_workspace, a.workspace_plaintext
    assert api.get("/channels", x_api_key=key).status_code == 200
    assert api.get("/channels", authorization=f"Bearer {key}").status_code == 200
    assert api.get("/channels", x_api_key=key, authorization="Bearer nonsense").status_code == 200
    refused = api.get("/channels", x_api_key="nonsense", authorization=f"Bearer {key}")
    assert status_and_body(refused) == (401, {"message": INVALID})


def test_a_key_begins_with_svc_and_selects_its_workspace(a: Tenant, b: Tenant) -> None:
    assert a.workspace_plaintext.startswith("svc_")
    assert not a.workspace_plaintext.startswith("svc_ag_")
    assert len(a.workspace_plaintext) == len("svc_") + 40
    channels = {tenant: tenant.channel for tenant in (a, b)}
    for tenant, channel in channels.items():
        (shown,) = tenant.workspace_api.get("/channels").json()["data"]
        assert shown["id"] == str(channel.uuid)


def test_401_without_a_key(db: None, nobody_of_a_workspace: Api) -> None:
    response = nobody_of_a_workspace.get("/channels")
    assert status_and_body(response) == (401, {"message": MISSING})
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("key", ["hello", "svc_", "svc_" + "a" * 40, "svc_ag_" + "a" * 40])
def test_401_for_an_unknown_key(db: None, nobody_of_a_workspace: Api, key: str) -> None:
    assert status_and_body(nobody_of_a_workspace.get("/channels", x_api_key=key)) == (401, {"message": INVALID})


def test_401_for_a_revoked_key_at_once(a: Tenant) -> None:
    key, plaintext = a_workspace_key(a.workspace)
    api = Api(WORKSPACE_BASE, plaintext)
    assert api.get("/channels").status_code == 200
    revoke_workspace_key(key=key, now=now(), by=SYSTEM)
    assert status_and_body(api.get("/channels")) == (401, {"message": INVALID})


def test_401_when_the_workspace_no_longer_exists(a: Tenant) -> None:
    api = a.workspace_api
    a.workspace.delete()
    assert status_and_body(api.get("/channels")) == (401, {"message": GONE})


def test_403_while_the_workspace_is_suspended(a: Tenant) -> None:
    api = a.workspace_api
    a.api.post(f"{a.path}/suspend")
    assert status_and_body(api.get("/channels")) == (403, {"message": SUSPENDED})
    a.api.post(f"{a.path}/restore")
    assert api.get("/channels").status_code == 200


def test_403_while_the_whole_agency_is_suspended(a: Tenant, b: Tenant) -> None:
    api, other = a.workspace_api, b.workspace_api
    suspend_agency(agency=a.agency, reason="", now=now(), by=SYSTEM)
    assert status_and_body(api.get("/channels")) == (403, {"message": SUSPENDED})
    assert other.get("/channels").status_code == 200
    restore_agency(agency=a.agency, by=SYSTEM)
    assert api.get("/channels").status_code == 200


def test_403_while_access_is_switched_off_whoever_calls(a: Tenant, nobody_of_a_workspace: Api) -> None:
    api = a.workspace_api
    turn_off()
    for caller in (api, nobody_of_a_workspace, nobody_of_a_workspace.with_key("nonsense")):
        assert status_and_body(caller.get("/channels")) == (403, {"message": DISABLED})
        assert status_and_body(caller.get("/nothing")) == (403, {"message": DISABLED})
    assert a.api.get("/plans").status_code == 200
    set_switch(name="workspace_api", enabled=True, reason="", by=SYSTEM)
    assert api.get("/channels").status_code == 200


def test_an_address_may_call_60_times_whatever_keys_it_sends(a: Tenant, b: Tenant) -> None:
    address = an_address()
    clients = [Api(WORKSPACE_BASE, key, address) for key in (a.workspace_plaintext, b.workspace_plaintext, None, "x")]
    answers = [clients[number % 4].get("/channels") for number in range(61)]
    assert [answer.status_code for answer in answers] == [200, 200, 401, 401] * 15 + [429]
    assert (answers[0]["X-RateLimit-Limit"], answers[0]["X-RateLimit-Remaining"]) == ("60", "59")
    seconds = answers[60]["Retry-After"]
    assert message(answers[60]) == f"Too many requests. Retry after {seconds} seconds."
    assert Api(WORKSPACE_BASE, a.workspace_plaintext).get("/channels").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_exactly_60_of_100_parallel_calls_from_an_address_are_heard(a: Tenant) -> None:
    answers = at_once(lambda _: a.workspace_api.get("/channels").status_code, times=100, threads=16)
    assert sorted(answers) == [200] * 60 + [429] * 40


def test_order_429_comes_before_everything(a: Tenant, settings: Any) -> None:
    settings.ADDRESS_LIMIT = 0
    api = a.workspace_api
    turn_off()
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    for caller in (api, api.with_key(None), api.with_key("nonsense")):
        assert caller.get("/channels").status_code == 429
        assert caller.call("FOO", "/nothing").status_code == 429


def test_order_switch_then_key_then_workspace_then_suspension_then_endpoint(
    a: Tenant, nobody_of_a_workspace: Api
) -> None:
    suspended, gone = a.workspace_api, WorkspaceFactory.create(agency=a.agency)
    _, orphan = a_workspace_key(gone)
    gone.delete()
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    assert status_and_body(suspended.delete("/channels")) == (403, {"message": SUSPENDED})
    assert status_and_body(suspended.get("/nothing")) == (403, {"message": SUSPENDED})
    assert status_and_body(nobody_of_a_workspace.with_key(orphan).delete("/channels")) == (401, {"message": GONE})
    assert status_and_body(nobody_of_a_workspace.delete("/channels")) == (401, {"message": MISSING})
    turn_off()
    for caller in (suspended, nobody_of_a_workspace.with_key(orphan), nobody_of_a_workspace):
        assert status_and_body(caller.get("/channels")) == (403, {"message": DISABLED})


def test_only_a_hash_of_the_key_is_stored(a: Tenant) -> None:
    key, plaintext = a_workspace_key(a.workspace)
    row = WorkspaceKey.objects.get(pk=key.pk)
    assert bytes(row.key_hash) == hashlib.sha256(plaintext.encode()).digest()
    assert row.prefix == plaintext[:12]


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/channels", 200), ("DELETE", "/channels", 405)])
def test_the_use_of_a_key_is_stamped_to_the_second(a: Tenant, method: str, path: str, status: int) -> None:
    key, plaintext = a_workspace_key(a.workspace)
    WorkspaceKey.objects.filter(pk=key.pk).update(last_used_at=now() - timedelta(days=1))
    before = now().replace(microsecond=0)
    assert Api(WORKSPACE_BASE, plaintext).call(method, path).status_code == status
    stamp = WorkspaceKey.objects.get(pk=key.pk).last_used_at
    assert stamp is not None
    assert before <= stamp <= now()
    assert stamp.microsecond == 0


def test_a_refusal_of_the_suspended_is_stamped_too(a: Tenant) -> None:
    api = a.workspace_api
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    api.get("/channels")
    assert WorkspaceKey.objects.get().last_used_at is not None


def test_over_the_address_s_limit_no_key_is_looked_up(a: Tenant, settings: Any, django_assert_num_queries: Any) -> None:
    settings.ADDRESS_LIMIT = 0
    api = a.workspace_api
    with django_assert_num_queries(0):
        api.get("/channels")
    assert WorkspaceKey.objects.get().last_used_at is None


def test_an_unknown_key_with_a_right_checksum_is_looked_up_in_vain(db: None, nobody_of_a_workspace: Api) -> None:
    assert message(nobody_of_a_workspace.get("/channels", x_api_key=new_key("svc_"))) == INVALID


def test_channels_are_a_paginated_list(a: Tenant) -> None:
    channels = [ChannelFactory.create(workspace=a.workspace) for _ in range(3)]
    answer = a.workspace_api.get("/channels?per_page=2").json()
    assert [channel["id"] for channel in answer["data"]] == [str(channels[2].uuid), str(channels[1].uuid)]
    assert answer["meta"] == {"current_page": 1, "from": 1, "to": 2, "per_page": 2, "last_page": 2, "total": 3}
    assert a.workspace_api.get(answer["links"]["next"]).json()["data"][0]["id"] == str(channels[0].uuid)


def test_limit_is_an_alias_of_per_page_which_wins(a: Tenant) -> None:
    def size(query: str) -> Any:
        return a.workspace_api.get(f"/channels?{query}").json()["meta"]["per_page"]

    assert (size("limit=3"), size("limit=3&per_page=4"), size("limit=1000"), size("limit=0")) == (3, 4, 100, 1)


def test_a_channel_reads_as_on_the_agency_surface(a: Tenant) -> None:
    there = a.api.get(f"{a.path}/channels/{a.channel.uuid}")
    here = a.workspace_api.get(f"/channels/{str(a.channel.uuid).upper()}")
    more = {"messaging_limit": None, "quality": "UNKNOWN", "remaining_allowance": None}
    assert here.json()["data"] == there.json()["data"] | more
    assert [*here.json()["data"]][: len(there.json()["data"])] == [*there.json()["data"]]


def test_a_sister_s_channel_is_404(a: Tenant) -> None:
    sister = ChannelFactory.create(workspace=WorkspaceFactory.create(agency=a.agency))
    assert status_and_body(a.workspace_api.get(f"/channels/{sister.uuid}")) == (404, {"message": "Channel not found."})

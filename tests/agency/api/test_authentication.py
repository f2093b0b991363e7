"""Who may come in at the agency surface, and what everybody else is answered."""

import hashlib
import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import AgencyKey
from agency.services import restore_agency, revoke_agency_key, set_switch, suspend_agency
from config.api.keys import new_key
from tests.factories import an_agency_key
from tests.tenants import Api, Tenant, message

MISSING = 'API key missing. Send it as the "x-api-key" header or a Bearer token.'
INVALID = "Invalid API key."
NOT_ACTIVE = "This agency is not active."
DISABLED = "The reseller API is currently disabled."


def turn_off() -> None:
    set_switch(name="agency_api", enabled=False, reason="maintenance", by=SYSTEM)


def test_rule_1_a_key_is_taken_from_the_x_api_key_header(a: Tenant, anonymous: Api) -> None:
    assert anonymous.get("/plans", x_api_key=a.plaintext).status_code == 200


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_rule_1_a_key_is_taken_as_a_bearer_token(a: Tenant, anonymous: Api, scheme: str) -> None:
    assert anonymous.get("/plans", authorization=f"{scheme} {a.plaintext}").status_code == 200


def test_rule_1_x_api_key_wins_over_a_bearer_token(a: Tenant, b: Tenant, anonymous: Api) -> None:
    """Each way round: what the other header says does not count, good or bad."""
    plan = a.plan
    own = anonymous.get("/plans", x_api_key=a.plaintext, authorization=f"Bearer {b.plaintext}")
    assert [one["uuid"] for one in own.json()["data"]] == [str(plan.uuid)]
    assert anonymous.get("/plans", x_api_key=a.plaintext, authorization="Bearer nonsense").status_code == 200
    refused = anonymous.get("/plans", x_api_key="nonsense", authorization=f"Bearer {a.plaintext}")
    assert (refused.status_code, message(refused)) == (401, INVALID)


def test_rule_1_an_empty_x_api_key_header_is_none_at_all(a: Tenant, anonymous: Api) -> None:
    assert anonymous.get("/plans", x_api_key="", authorization=f"Bearer {a.plaintext}").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x_api_key": ""},
        {"x_api_key": "   "},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": "Basic c3ZjOg=="},
        {"authorization": "Token abc"},
    ],
)
def test_401_without_a_key(db: None, anonymous: Api, headers: dict[str, str]) -> None:
    response = anonymous.get("/plans", **headers)
    assert (response.status_code, json.loads(response.content)) == (401, {"message": MISSING})
    assert response["WWW-Authenticate"] == "Bearer"


def test_401_for_a_key_sent_anywhere_but_in_a_header(a: Tenant, anonymous: Api) -> None:
    key = a.plaintext
    assert message(anonymous.get(f"/plans?api_key={key}&x-api-key={key}&key={key}")) == MISSING
    assert message(anonymous.get("/plans", cookie=f"x-api-key={key}; api_key={key}")) == MISSING
    assert message(anonymous.post("/workspaces", {"x-api-key": key, "api_key": key})) == MISSING


def swap_case(key: str) -> str:
    position = next(number for number, letter in enumerate(key) if number > 10 and letter.isalpha())
    return key[:position] + key[position].swapcase() + key[position + 1 :]


MISTYPED = {
    "another text": lambda key: "hello",
    "the last character changed": lambda key: key[:-1] + ("a" if key[-1] != "a" else "b"),
    "one letter's case changed": swap_case,
    "cut short": lambda key: key[:-1],
    "too long": lambda key: key + "a",
    "ten kilobytes": lambda key: key * 200,
    "a blank behind": lambda key: key + " ",
    "a blank before": lambda key: " " + key,
    "a NUL behind": lambda key: key + "\0",
    "an undecodable byte": lambda key: key[:-1] + "\xff",
    "full-width letters": lambda key: key[:-1] + "\xef\xbc\xa1",
    "a prefix alone": lambda key: "svc_ag_",
    "the prefix of a workspace": lambda key: key.replace("svc_ag_", "svc_"),
    "quoted": lambda key: f'"{key}"',
}


@pytest.mark.parametrize("change", MISTYPED.values(), ids=MISTYPED.keys())
def test_401_for_a_mistyped_key(a: Tenant, anonymous: Api, change: Any) -> None:
    response = anonymous.get("/plans", x_api_key=change(a.plaintext))
    assert (response.status_code, json.loads(response.content)) == (401, {"message": INVALID})


def test_401_for_a_key_that_nobody_was_given(db: None, anonymous: Api) -> None:
    assert message(anonymous.get("/plans", x_api_key=new_key("svc_ag_"))) == INVALID


def test_blanks_behind_bearer_are_no_part_of_the_key(a: Tenant, anonymous: Api) -> None:
    assert anonymous.get("/plans", authorization=f"Bearer  {a.plaintext}").status_code == 200


def test_rule_2_a_workspace_key_is_rejected_here_and_an_agency_key_there(a: Tenant) -> None:
    crossed = Api("/api/agency/v1", a.workspace_plaintext).get("/plans")
    assert (crossed.status_code, message(crossed)) == (401, INVALID)
    crossed = Api("/api/v1", a.plaintext).get("/channels")
    assert (crossed.status_code, message(crossed)) == (401, INVALID)


def test_rule_2_keys_begin_with_their_prefix_and_have_forty_characters_more(a: Tenant) -> None:
    assert a.plaintext.startswith("svc_ag_")
    assert len(a.plaintext) == len("svc_ag_") + 40


def test_rule_3_a_key_scopes_every_list_to_its_own_agency(a: Tenant, b: Tenant) -> None:
    everything = (a.plan, a.addon, a.workspace, a.endpoint)
    for path in ("/plans", "/addons", "/workspaces", "/webhooks", "/webhooks/deliveries"):
        answer = b.api.get(path)
        assert answer.json()["data"] == []
        assert a.mark not in answer.content.decode()
    assert len(everything) == 4
    assert b.api.get("/workspaces").json()["meta"]["total"] == 0


def test_rule_4_a_revoked_key_is_refused_from_the_next_call_on(a: Tenant) -> None:
    assert a.api.get("/plans").status_code == 200
    revoke_agency_key(key=a.key, now=now(), by=SYSTEM)
    refused = a.api.get("/plans")
    assert (refused.status_code, message(refused)) == (401, INVALID)


def test_rule_4_revoking_one_key_leaves_the_others(a: Tenant) -> None:
    _, other = an_agency_key(a.agency, name="Second")
    revoke_agency_key(key=a.key, now=now(), by=SYSTEM)
    assert a.api.with_key(other).get("/plans").status_code == 200


def test_rule_6_only_a_hash_of_the_key_is_stored(a: Tenant) -> None:
    a.api.post("/workspaces", {"name": "Shop", "owner": {"name": "Ada", "email": "ada@example.com"}})
    row = AgencyKey.objects.get(pk=a.key.pk)
    assert bytes(row.key_hash) == hashlib.sha256(a.plaintext.encode()).digest()
    assert row.prefix == a.plaintext[:12]
    assert a.plaintext[12:] not in everything_stored()


def everything_stored() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        rows = []
        for table in tables:
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{table}" t')  # noqa: S608  # names from the catalogue
            rows += [text for (text,) in cursor.fetchall()]
    return "\n".join(rows)


def test_403_all_keys_of_a_suspended_agency_stop_working_at_once(a: Tenant, b: Tenant) -> None:
    _, second = an_agency_key(a.agency, name="Second", can_copy=True)
    suspend_agency(agency=a.agency, reason="unpaid", now=now(), by=SYSTEM)
    for key in (a.plaintext, second):
        response = a.api.with_key(key).get("/plans")
        assert (response.status_code, json.loads(response.content)) == (403, {"message": NOT_ACTIVE})
    assert b.api.get("/plans").status_code == 200
    restore_agency(agency=a.agency, by=SYSTEM)
    assert a.api.get("/plans").status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/workspaces"),
        ("POST", "/workspaces"),
        ("GET", "/webhooks/events"),
        ("DELETE", "/webhooks/8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10"),
        ("GET", "/no-such-path"),
        ("TRACE", "/plans"),
    ],
)
def test_503_while_the_surface_is_disabled_whoever_calls(a: Tenant, anonymous: Api, method: str, path: str) -> None:
    turn_off()
    for caller in (anonymous, a.api, anonymous.with_key("nonsense"), anonymous.with_key(a.workspace_plaintext)):
        response = caller.call(method, path)
        assert (response.status_code, json.loads(response.content)) == (503, {"message": DISABLED})
        assert "X-RateLimit-Limit" not in response.headers


def test_503_ends_as_soon_as_the_surface_is_enabled_and_never_touched_the_other(a: Tenant) -> None:
    turn_off()
    assert a.workspace_api.get("/channels").status_code == 200
    set_switch(name="agency_api", enabled=True, reason="", by=SYSTEM)
    assert a.api.get("/plans").status_code == 200


def test_order_503_comes_before_every_other_check(a: Tenant, anonymous: Api) -> None:
    suspend_agency(agency=a.agency, reason="", now=now(), by=SYSTEM)
    turn_off()
    assert message(a.api.get("/plans")) == DISABLED
    assert message(anonymous.get("/plans")) == DISABLED


def test_order_401_missing_comes_before_401_unknown(a: Tenant, anonymous: Api) -> None:
    assert message(anonymous.get("/no-such-path")) == MISSING
    assert message(anonymous.get("/no-such-path", x_api_key="x")) == INVALID


def test_order_403_comes_before_429(a: Tenant, settings: Any) -> None:
    settings.AGENCY_KEY_LIMIT = 1
    assert [a.api.get("/plans").status_code for _ in range(2)] == [200, 429]
    suspend_agency(agency=a.agency, reason="", now=now(), by=SYSTEM)
    refused = a.api.get("/plans")
    assert (refused.status_code, message(refused)) == (403, NOT_ACTIVE)
    assert "X-RateLimit-Limit" not in refused.headers


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/no-such-path", b""),
        ("DELETE", "/plans", b""),
        ("POST", "/workspaces", b"not json"),
        ("GET", "/workspaces/not-a-uuid", b""),
        ("POST", "/workspaces", b'{"name": ""}'),
    ],
)
def test_order_429_comes_before_the_endpoint(a: Tenant, settings: Any, method: str, path: str, body: bytes) -> None:
    settings.AGENCY_KEY_LIMIT = 1
    a.api.get("/plans")
    assert a.api.call(method, path, body).status_code == 429


def test_order_401_comes_before_the_endpoint(db: None, anonymous: Api) -> None:
    for method, path in (("GET", "/nothing"), ("DELETE", "/plans"), ("GET", "/workspaces/x")):
        assert anonymous.call(method, path).status_code == 401
    assert anonymous.post("/workspaces", b"not json").status_code == 401
    assert anonymous.call("POST", "/workspaces", b"{" * (1024 * 1024 + 1)).status_code == 401


def test_a_mistyped_key_is_refused_without_looking_any_key_up(db: None, anonymous: Api) -> None:
    with CaptureQueriesContext(connection) as asked:
        anonymous.get("/plans", x_api_key="svc_ag_" + "a" * 40)
    assert ["agency_agencykey" in query["sql"] for query in asked] == [False]


def test_one_statement_knows_switch_key_and_agency_and_stamps_the_use(a: Tenant) -> None:
    with CaptureQueriesContext(connection) as asked:
        a.api.get("/plans")
    assert len(asked) == 2


def test_a_session_of_the_console_opens_nothing_here(a: Tenant, anonymous: Api, admin_client: Any) -> None:
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in admin_client.cookies.items())
    assert message(anonymous.get("/plans", cookie=cookie)) == MISSING

"""Every route of the URL configuration, with every method and every kind of caller.

What the base class of a surface refuses before a view's own code runs is asked of the routes in turn
(tests/route_walk.py), and of every route at full size.
"""

import json
from contextlib import nullcontext
from datetime import timedelta
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from django.urls import resolve
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import AgencyKey
from agency.services import revoke_agency_key
from agency.services.keys import KeyLimits
from config.api.keys import new_key
from config.api.requests import IdConverter
from tests import furnished
from tests.agency.console.browsers import a_host
from tests.database.emptying import forget_counters
from tests.database.traces import traces
from tests.database.undoing import undone
from tests.factories import a_workspace_key, an_agency_key
from tests.page_walk import turn
from tests.route_walk import RouteCall, declared, in_turns, is_full_size, one_of_each, own_checks, pages
from tests.routes import (
    AGENCY,
    CATCH_ALLS,
    DOCUMENTS,
    ROUTES,
    WORKSPACE,
    WRITES,
    Case,
    address,
    api_of,
    body_of,
    ids_in,
    ids_of,
    methods_of,
    mounted,
    suspend,
)
from tests.tenants import Api, Tenant
from workspaces.subaccounts.models import WorkspaceKey
from workspaces.subaccounts.services import revoke_workspace_key

pytestmark = pytest.mark.slow

a, b = furnished.a, furnished.b

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO")
# Headers that differ between two calls for the same thing.
OF_THE_CALL = frozenset({"x-request-id", "x-ratelimit-remaining"})

CASES = [(route, method, case) for route, methods in ROUTES.items() for method, case in methods.items()]
EACH_SURFACE = pytest.mark.parametrize("surface", [AGENCY, WORKSPACE])


def others_keys(surface: str, tenant: Tenant) -> dict[str, str | None]:
    """Give keys that must not open this surface, including the tenant's own key of the other surface."""
    if surface == AGENCY:
        revoked, plaintext = an_agency_key(tenant.agency, name="Revoked")
        revoke_agency_key(key=revoked, now=now(), by=SYSTEM)
        return {
            "no key": None,
            "unknown key": new_key("svc_ag_"),
            "mistyped key": tenant.plaintext[:-1] + "!",
            "revoked key": plaintext,
            "workspace key": tenant.workspace_plaintext,
        }
    shop, plaintext = a_workspace_key(tenant.workspace, name="Revoked")
    revoke_workspace_key(key=shop, now=now(), by=SYSTEM)
    return {
        "no key": None,
        "unknown key": new_key("svc_"),
        "mistyped key": tenant.workspace_plaintext[:-1] + "!",
        "revoked key": plaintext,
        "agency key": tenant.plaintext,
    }


def limited_keys(surface: str, tenant: Tenant) -> dict[str, str]:
    """Give the tenant's own keys that have expired, or that do not allow the tests' network."""
    elsewhere: KeyLimits = {"expires_at": None, "allowed_networks": ["198.51.100.0/24"]}
    later: KeyLimits = {"expires_at": now() + timedelta(days=1), "allowed_networks": []}
    yesterday = now() - timedelta(days=1)
    if surface == AGENCY:
        expired, plaintext = an_agency_key(tenant.agency, name="Expired", can_copy=True, can_make_keys=True, **later)
        AgencyKey.objects.filter(pk=expired.pk).update(expires_at=yesterday)
        held = an_agency_key(tenant.agency, name="Office", can_copy=True, can_make_keys=True, **elsewhere)[1]
    else:
        own, plaintext = a_workspace_key(tenant.workspace, name="Expired", **later)
        WorkspaceKey.objects.filter(pk=own.pk).update(expires_at=yesterday)
        held = a_workspace_key(tenant.workspace, name="Office", **elsewhere)[1]
    return {"expired": plaintext, "for other networks": held}


def essence(response: Any) -> tuple[int, bytes, dict[str, str]]:
    """Give the whole answer except the request's id and the remainder of the limit."""
    headers = {name: value for name, value in response.items() if name.lower() not in OF_THE_CALL}
    return response.status_code, response.content, headers


def test_every_route_and_method_is_in_the_table() -> None:
    found = {route: methods_of(entry) for route, entry in mounted()}
    expected = {route: set(methods) for route, methods in ROUTES.items()}
    assert found == expected | {route: set() for route in (*DOCUMENTS, *CATCH_ALLS)}


def test_each_route_leaves_to_its_surface_what_is_refused_before_its_own_code_runs() -> None:
    """So one kind of request at many routes shows what all routes do. A route with checks of its own gets every kind.

    The ids of all paths are read by the same converter.
    """
    assert {page.cls.__name__: own_checks(route) for route, page in pages().items() if own_checks(route)} == {
        "SubAccountKeyViewSet": {"initial"}
    }
    assert {type(one) for _, entry in mounted() for one in entry.pattern.converters.values()} == {IdConverter}


def calls_of(tenant: Tenant, surface: str = "") -> list[RouteCall]:
    """Give route, method, address and body of each case of a surface, or of both; make the things that bodies need."""
    ids = ids_of(tenant)
    return [
        (route, method, address(route, ids), body_of(case, tenant))
        for route, method, case in CASES
        if route.startswith(surface)
    ]


@EACH_SURFACE
def test_no_other_or_ended_key_and_no_other_host_or_network_opens_a_route_or_leaves_a_trace(
    a: Tenant, b: Tenant, surface: str
) -> None:
    calls, others_host = calls_of(a, surface), a_host(b.agency)
    keys = others_keys(surface, a) | limited_keys(surface, a)
    on_others_host = "own key on another agency's host"
    before = traces()
    answers = {}
    for who, (route, method, path, body) in in_turns([*keys, on_others_host], calls):
        forget_counters()
        client = api_of(route, a)
        if who == on_others_host:
            answer = client.call(method, path, body, host=others_host)
        else:
            answer = client.with_key(keys[who]).call(method, path, body)
        answers[f"{who}: {method} {route}"] = answer.status_code
    assert answers == dict.fromkeys(answers, 401)
    assert traces() == before


@EACH_SURFACE
def test_another_tenant_s_key_finds_and_changes_nothing(a: Tenant, b: Tenant, surface: str) -> None:
    calls, before = calls_of(a, surface), traces()
    for route, method, path, body in calls:
        forget_counters()
        expected = ROUTES[route][method].others
        # Only a call that finds something of the other tenant's own may change something.
        with nullcontext() if expected == 404 else undone():
            foreign = api_of(route, b).call(method, path, body)
        assert (route, method, foreign.status_code) == (route, method, expected)
        assert a.mark not in foreign.content.decode(), (route, method)
        assert a.mark not in str(foreign.headers), (route, method)
    assert traces() == before


@EACH_SURFACE
def test_a_suspended_holder_s_key_opens_nothing_and_leaves_no_trace(a: Tenant, surface: str) -> None:
    calls = calls_of(a, surface)
    suspend(surface, a)
    before = traces()
    answers = {}
    for route, method, path, body in one_of_each(calls):
        forget_counters()
        answers[f"{method} {route}"] = api_of(route, a).call(method, path, body).status_code
    assert answers == dict.fromkeys(answers, 403)
    assert traces() == before


@EACH_SURFACE
def test_another_tenant_s_id_answers_like_a_random_one_and_leaves_no_trace(a: Tenant, b: Tenant, surface: str) -> None:
    """Each place of an id gets one of the forms in which an id may be written, in turn."""
    own, others, calls = ids_of(a), ids_of(b), calls_of(a, surface)
    before = traces()
    for route, method, _, body in calls:
        for name in ids_in(route):  # every position of an id in a path
            forget_counters()
            foreign, client = others[name], api_of(route, a)
            forms = (str(foreign).upper(), "no-uuid", "%00")
            asked = forms if is_full_size() else [forms[turn(f"{method} {route} {name}", len(forms))]]
            random, *answers = (
                essence(client.call(method, address(route, own | {name: uuid}), body))
                for uuid in (uuid4(), foreign, *asked)
            )
            assert (route, method, name, random[0]) == (route, method, name, 404)
            assert (route, method, name, answers) == (route, method, name, [random] * len(answers))
    assert traces() == before


@pytest.mark.parametrize(
    ("method", "path", "field"),
    [("POST", "/workspaces", "plan"), ("PUT", "{own}/plan", "plan"), ("POST", "{own}/addons", "addon")],
)
def test_another_agency_s_id_in_a_body_answers_like_a_random_one_and_leaves_no_trace(
    a: Tenant, b: Tenant, method: str, path: str, field: str
) -> None:
    where, body = path.format(own=a.path), {"name": "X", "owner": {"name": "A", "email": "a@example.com"}}
    foreign = {"plan": b.plan, "addon": b.addon}[field].uuid
    before = traces()
    answers = [essence(a.api.call(method, where, body | {field: str(uuid)})) for uuid in (uuid4(), foreign)]
    assert answers[0] == answers[1]
    assert answers[0][0] == 404
    assert traces() == before


def test_another_agency_s_id_in_the_query_answers_like_a_random_one(a: Tenant, b: Tenant) -> None:
    assert b.workspace.plan == b.plan
    answers = []
    for uuid in (uuid4(), b.plan.uuid):
        answer = a.api.get(f"/workspaces?plan={uuid}")
        answers.append(answer.content.replace(str(uuid).encode(), b"ID"))
    assert answers[0] == answers[1]


def test_a_wrong_method_is_405_with_allow_and_leaves_no_trace(a: Tenant) -> None:
    """Each route refuses one of the methods that it lacks; `TRACE` and `FOO` stand for all that no route has."""
    ids, before = ids_of(a), traces()
    asked = set()
    for route, cases in ROUTES.items():
        forget_counters()
        path, client, allowed = address(route, ids), api_of(route, a), set(cases)
        wrong = [method for method in METHODS if method not in allowed]
        for method in wrong if is_full_size() else [wrong[turn(route, len(wrong))]]:
            asked.add(method)
            response = client.call(method, path, {})
            assert (route, method, response.status_code) == (route, method, 405)
            assert set(response["Allow"].split(", ")) == allowed | ({"HEAD"} if "GET" in allowed else set()), route
            assert list(json.loads(response.content)) == ["message"], route
    assert asked == set(METHODS)
    assert traces() == before


def test_head_answers_like_get_without_the_body(a: Tenant) -> None:
    """Each route has one handler for both, so one route of each kind of answer is asked."""
    kinds = {}
    for route in (route for route, methods in ROUTES.items() if "GET" in methods):
        assert pages()[route].actions["head"] == pages()[route].actions["get"], route
        shown = declared(route, "GET").answer
        kinds[route if is_full_size() else (api_of(route, a).base, shown.is_page, shown.content_type)] = route
    assert len(kinds) >= 5
    ids = ids_of(a)
    for route in kinds.values():
        forget_counters()
        path, client = address(route, ids), api_of(route, a)
        get, head = client.get(path), client.call("HEAD", path)
        assert (route, head.status_code, head.content) == (route, 200, b"")
        assert head["Content-Length"] == get["Content-Length"] == str(len(get.content)), route


@EACH_SURFACE
def test_an_answer_on_the_own_host_is_json_that_nobody_keeps_and_ids_in_upper_case_are_the_same_ids(
    a: Tenant, surface: str
) -> None:
    host, ids = a_host(a.agency), {name: str(uuid).upper() for name, uuid in ids_of(a).items()}
    for route, method, case in CASES:
        if route.startswith(surface):
            forget_counters()
            with undone():
                copy = furnished.taken("furnished", 0)  # remembers nothing that was undone
                path, body = address(route, ids), body_of(case, copy)
                response = api_of(route, copy).call(method, path, body, host=host, x_request_id="call.1_A-")
                assert (route, method, response.status_code) == (route, method, case.own)
                assert not set(ids.values()) & set(response.content.decode(errors="replace").split('"')), route
                assert_is_json_that_nobody_keeps(response, f"{method} {route}", case)


def assert_is_json_that_nobody_keeps(response: Any, name: str, case: Case) -> None:
    assert response["Content-Type"] == case.content_type, name
    assert response["Cache-Control"] == "no-store", name
    assert response["X-Request-Id"] == "call.1_A-", name
    assert response["X-Content-Type-Options"] == "nosniff", name
    assert int(response["X-RateLimit-Remaining"]) < int(response["X-RateLimit-Limit"]), name
    assert case.content_type != "application/json" or "data" in json.loads(response.content), name
    assert not response.cookies, name


def slashed(own: str) -> str:
    path, mark, query = own.partition("?")
    return f"{path}/{mark}{query}"


def test_a_trailing_slash_is_another_path_and_leaves_no_trace(a: Tenant) -> None:
    """Every such path leads to its surface's answer to unknown paths, and one of each kind is asked."""
    calls, before = [(route, method, slashed(path), body) for route, method, path, body in calls_of(a)], traces()
    led_to = {resolve(path.partition("?")[0]).func for _, _, path, _ in calls}
    assert led_to == {entry.callback for route, entry in mounted() if route in CATCH_ALLS[:2]}
    for route, method, path, body in one_of_each(calls):
        forget_counters()
        response = api_of(route, a).call(method, path, body)
        assert (route, response.status_code) == (route, 404)
        assert json.loads(response.content) == {"message": "Not found."}
    assert traces() == before


MALFORMED: dict[str, tuple[bytes, str, int]] = {
    "no JSON": (b"{", "application/json", 400),
    "a list": (b"[]", "application/json", 400),
    "a string": (b'"x"', "application/json", 400),
    "null": (b"null", "application/json", 400),
    "a key twice": (b'{"name": "a", "name": "b"}', "application/json", 400),
    "NaN": (b'{"name": NaN}', "application/json", 400),
    "Infinity": (b'{"name": -Infinity}', "application/json", 400),
    "too deep": (b'{"a":' * 101 + b"1" + b"}" * 101, "application/json", 400),
    "no UTF-8": (b'{"name": "\xff"}', "application/json", 400),
    "too long": (b'{"name": "' + b"x" * 1024 * 1024 + b'"}', "application/json", 413),
    "plain text": (b"{}", "text/plain", 415),
    "a form": (b"name=x", "application/x-www-form-urlencoded", 415),
    "another charset": ("{}".encode("utf-16"), "application/json; charset=utf-16", 415),
    "no content type": (b"{}", "", 415),
}


@EACH_SURFACE
def test_a_body_that_cannot_be_read_is_refused_and_leaves_no_trace(a: Tenant, surface: str) -> None:
    calls = [call for call in calls_of(a, surface) if call[1] in WRITES]
    asked = [*in_turns([*MALFORMED], calls)]
    uploads = [call for call in calls if ROUTES[call[0]][call[1]].is_upload]
    before = traces()
    for name, (route, method, path, _) in [*asked, *product(MALFORMED, uploads)]:
        forget_counters()
        body, kind, status = MALFORMED[name]
        response = api_of(route, a).call(method, path, body, content_type=kind)
        expected = 415 if ROUTES[route][method].is_upload else status
        assert (route, method, name, response.status_code) == (route, method, name, expected)
        assert json.loads(response.content)["message"], (route, method, name)
    assert traces() == before


@EACH_SURFACE
def test_an_empty_body_is_400_where_fields_are_needed(a: Tenant, surface: str) -> None:
    for route, method, case in CASES:
        if method in WRITES and route.startswith(surface):
            forget_counters()
            with undone():
                copy = furnished.taken("furnished", 0)  # remembers nothing that was undone
                if case.body_optional:
                    body_of(case, copy)  # brings the thing into the state that the route needs
                answer = api_of(route, copy).call(method, address(route, ids_of(copy)))
            expected = case.own if case.body_optional else 400
            assert (route, method, answer.status_code) == (route, method, expected)


UNKNOWN = ("", "/", "/nothing", "/workspaces/x/nothing", "/%00", "/%ff", "/../v1", "/a%0Ab")


@EACH_SURFACE
def test_a_path_that_does_not_exist_is_404_for_every_method(a: Tenant, surface: str) -> None:
    """Each path is asked for with one method on one surface, and with another on the other."""
    client = api_of(surface, a)
    methods = METHODS if surface == AGENCY else (*METHODS[3:], *METHODS[:3])
    for path, method in product(UNKNOWN, METHODS) if is_full_size() else zip(UNKNOWN, methods, strict=True):
        response = client.call(method, f"{client.base}{path or '/'}")
        assert (path, method, response.status_code) == (path, method, 404)
        assert json.loads(response.content) == {"message": "Not found."}


def test_a_path_on_no_surface_is_404_in_json(a: Tenant) -> None:
    paths = ("/api", "/api/", "/api/agency", "/api/agency/v2/plans", "/api/agency/v10/x", "/api/v2", "/api/a%0Ab")
    for path, method in product(paths, ("GET", "POST", "DELETE")):
        response = a.api.call(method, path, {})
        assert (path, method, response.status_code) == (path, method, 404)
        assert json.loads(response.content) == {"message": "Not found."}


@pytest.mark.parametrize("route", DOCUMENTS)
def test_the_documents_need_no_key_and_take_only_get(db: None, anonymous: Api, route: str) -> None:
    assert anonymous.get(f"/{route}").status_code == 200
    assert anonymous.post(f"/{route}", {}).status_code == 405

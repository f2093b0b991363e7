"""The order of the checks on both surfaces, and what every answer carries."""

from typing import Any

import pytest
from django.test import Client

from config.api.keys import new_key
from tests.api.conftest import AGENCY, WORKSPACE
from tests.api.surfaces.surfaces import Holder, SurfaceState

pytestmark = pytest.mark.slow

MISSING = 'API key missing. Send it as the "x-api-key" header or a Bearer token.'
INVALID = "Invalid API key."


def test_a_known_key_is_let_in_and_counted(agency: Client) -> None:
    answer = agency.get(f"{AGENCY}/things")
    assert answer.status_code == 200
    assert answer["X-RateLimit-Limit"] == "120"
    assert answer["X-RateLimit-Remaining"] == "119"
    assert "Retry-After" not in answer
    assert answer["Cache-Control"] == "no-store"
    assert answer["Content-Type"] == "application/json"


@pytest.mark.parametrize("surface", [AGENCY, WORKSPACE])
def test_a_missing_key_is_401(anonymous: Client, surface: str) -> None:
    answer = anonymous.get(f"{surface}/things")
    assert (answer.status_code, answer.json()) == (401, {"message": MISSING})
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer["X-RateLimit-Limit"] == "60"
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("surface", "prefix"), [(AGENCY, "svc_ag_"), (WORKSPACE, "svc_")])
def test_an_unknown_key_is_401(anonymous: Client, surface: str, prefix: str) -> None:
    answer = anonymous.get(f"{surface}/things", headers={"x-api-key": new_key(prefix)})
    assert (answer.status_code, answer.json()) == (401, {"message": INVALID})


def test_each_surface_rejects_the_other_ones_key(
    anonymous: Client, agency_key: str, workspace_key: str, state: SurfaceState
) -> None:
    for surface, key in ((AGENCY, workspace_key), (WORKSPACE, agency_key)):
        answer = anonymous.get(f"{surface}/things", headers={"x-api-key": key})
        assert (answer.status_code, answer.json()) == (401, {"message": INVALID})
    assert state.looked_up == 0


def test_a_mistyped_key_is_refused_without_a_look_up(anonymous: Client, agency_key: str, state: SurfaceState) -> None:
    wrong = agency_key[:-1] + ("0" if agency_key[-1] != "0" else "1")
    assert anonymous.get(f"{AGENCY}/things", headers={"x-api-key": wrong}).status_code == 401
    assert state.looked_up == 0


def test_the_agency_switch_comes_before_the_key_and_is_not_counted(anonymous: Client, state: SurfaceState) -> None:
    state.open = False
    answer = anonymous.get(f"{AGENCY}/things")
    assert (answer.status_code, answer.json()) == (503, {"message": "The reseller API is currently disabled."})
    assert "X-RateLimit-Limit" not in answer


def test_a_surface_that_is_switched_off_is_no_fault_in_the_log(
    anonymous: Client, state: SurfaceState, caplog: pytest.LogCaptureFixture
) -> None:
    state.open = False
    assert anonymous.get(f"{AGENCY}/things").status_code == 503
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_an_inactive_agency_is_refused_before_its_limit(agency: Client, holder: Holder) -> None:
    holder.active = False
    for _ in range(125):
        answer = agency.get(f"{AGENCY}/things")
        assert (answer.status_code, answer.json()) == (403, {"message": "This agency is not active."})


def test_the_address_limit_of_the_workspace_surface_comes_first(workspace: Client, state: SurfaceState) -> None:
    state.open = False
    answers = [workspace.get(f"{WORKSPACE}/things") for _ in range(61)]
    assert {answer.status_code for answer in answers[:60]} == {403}
    assert answers[0].json() == {"message": "API access is disabled for this installation."}
    assert answers[60].status_code == 429


def test_a_workspace_that_is_gone_is_401_and_a_suspended_one_403(workspace: Client, holder: Holder) -> None:
    holder.active = False
    suspended = workspace.get(f"{WORKSPACE}/things")
    assert (suspended.status_code, suspended.json()) == (403, {"message": "This workspace is suspended."})
    holder.gone = True
    gone = workspace.get(f"{WORKSPACE}/things")
    assert gone.status_code == 401
    assert gone.json() == {"message": "The workspace for this API key no longer exists."}


@pytest.mark.parametrize("path", ["", "/", "/nothing", "/things/", "/things/x/y", "/a%0Ab", "/%00", "/%ff"])
@pytest.mark.parametrize("method", ["get", "post", "delete", "options", "trace"])
def test_an_unknown_path_is_404_for_every_method_once_the_key_is_known(
    agency: Client, anonymous: Client, path: str, method: str
) -> None:
    answer = getattr(agency, method)(f"{AGENCY}{path}")
    assert (answer.status_code, answer.json()) == (404, {"message": "Not found."})
    assert getattr(anonymous, method)(f"{AGENCY}{path}").status_code == 401


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v2/things", "/api/agency", "/api/agency/v10"])
def test_a_path_on_no_surface_is_404_in_json(anonymous: Client, path: str) -> None:
    answer = anonymous.post(path)
    assert (answer.status_code, answer.json()) == (404, {"message": "Not found."})


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO", "CONNECT"])
def test_a_wrong_method_is_405_with_allow(agency: Client, method: str) -> None:
    answer = agency.generic(method, f"{AGENCY}/things", b"{}", content_type="application/json")
    assert answer.status_code == 405
    assert set(answer.json()) == {"message"}
    assert answer["Allow"] == "GET, POST, HEAD"


def test_a_method_cannot_be_overridden_by_a_header(agency: Client) -> None:
    answer = agency.get(f"{AGENCY}/things", headers={"X-HTTP-Method-Override": "DELETE"})
    assert answer.status_code == 200


def test_head_works_like_get_and_counts(agency: Client) -> None:
    answer = agency.head(f"{AGENCY}/things")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["X-RateLimit-Remaining"] == "119"


@pytest.mark.parametrize(
    "request_line", [{"query_params": {"format": "api"}}, {"headers": {"Accept": "application/xml"}}]
)
def test_the_answer_is_json_whatever_is_asked_for(agency: Client, request_line: dict[str, Any]) -> None:
    answer = agency.get(f"{AGENCY}/things", **request_line)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


def test_headers_of_a_view_survive(agency: Client) -> None:
    answer = agency.get(f"{AGENCY}/things/0B7A4D9E-0000-4000-8000-00000000ABCD")
    assert answer["X-Own"] == "kept"
    assert answer.json() == {"data": {"uuid": "0b7a4d9e-0000-4000-8000-00000000abcd"}}


def test_the_body_of_an_action_may_be_empty_where_the_view_says_so(agency: Client) -> None:
    assert agency.generic("POST", f"{AGENCY}/suspend").json() == {"data": {}}
    answer = agency.post(f"{AGENCY}/suspend", {"reason": "late"}, content_type="application/json")
    assert answer.json() == {"data": {"reason": "late"}}
    broken = agency.post(f"{AGENCY}/suspend", "[", content_type="application/json")
    assert broken.status_code == 400


def test_a_session_cookie_means_nothing(anonymous: Client) -> None:
    anonymous.cookies["session"] = "whatever"
    assert anonymous.get(f"{AGENCY}/things").json() == {"message": MISSING}

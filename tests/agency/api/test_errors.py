"""The errors of the agency surface as callers get them, and what no error gives away."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.services import change_agency, set_switch, suspend_agency
from config.logs import JSONFormatter
from tests import furnished
from tests.tenants import Api, Tenant, a_new_customer

a = furnished.a_with_customer

UUID = "8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10"


def disable(_: Tenant) -> None:
    set_switch(name="agency_api", enabled=False, reason="", by=SYSTEM)


def suspend(tenant: Tenant) -> None:
    suspend_agency(agency=tenant.agency, reason="", now=now(), by=SYSTEM)


def fill(tenant: Tenant) -> None:
    change_agency(agency=tenant.agency, name=tenant.agency.name, max_sub_accounts=0, by=SYSTEM)


def nothing(_: Tenant) -> None:
    """All is as usual."""


ERRORS: dict[str, tuple[Callable[[Tenant], None], Callable[[Api], Any], int]] = {
    "400": (nothing, lambda api: api.post("/workspaces", b"{"), 400),
    "401 missing": (nothing, lambda api: api.with_key(None).get("/plans"), 401),
    "401 unknown": (nothing, lambda api: api.with_key("x").get("/plans"), 401),
    "403 suspended": (suspend, lambda api: api.get("/plans"), 403),
    "403 full": (fill, lambda api: api.post("/workspaces", a_new_customer()), 403),
    "404 thing": (nothing, lambda api: api.get(f"/workspaces/{UUID}"), 404),
    "404 path": (nothing, lambda api: api.get("/nothing"), 404),
    "405": (nothing, lambda api: api.delete("/plans"), 405),
    "409": (nothing, lambda api: conflict(api), 409),
    "413": (nothing, lambda api: api.post("/workspaces", b"x" * (1024 * 1024 + 1)), 413),
    "415": (nothing, lambda api: api.post("/workspaces", b"{}", content_type="text/plain"), 415),
    "422": (nothing, lambda api: api.post("/workspaces", {}), 422),
    "503": (disable, lambda api: api.get("/plans"), 503),
}


def conflict(api: Api) -> Any:
    api.post("/workspaces", a_new_customer(), idempotency_key="k")
    return api.post("/workspaces", a_new_customer(), idempotency_key="k")


@pytest.mark.parametrize(("before", "call", "status"), ERRORS.values(), ids=ERRORS.keys())
def test_every_error_is_a_message_in_json_that_nobody_keeps(
    a: Tenant, before: Callable[[Tenant], None], call: Callable[[Api], Any], status: int
) -> None:
    before(a)
    response = call(a.api)
    body = json.loads(response.content)
    assert response.status_code == status
    assert list(body) == (["message", "errors"] if status == 422 else ["message"])
    assert body["message"].endswith((".", "error)", "errors)"))
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    assert response["X-Request-Id"]


def test_a_fault_that_nobody_foresaw_is_500_and_says_nothing_more(a: Tenant, caplog: pytest.LogCaptureFixture) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE agency_plan RENAME COLUMN description TO mislaid")
    response = a.api.get("/plans", x_request_id="call-7")
    assert (response.status_code, response.json()) == (500, {"message": "Server error."})
    assert (response["X-Request-Id"], response["Cache-Control"]) == ("call-7", "no-store")
    assert any(record.levelname == "ERROR" for record in caplog.records)


def test_no_log_line_holds_a_key(a: Tenant, anonymous: Api, caplog: pytest.LogCaptureFixture) -> None:
    """Not one that was sent where it belongs, nor one sent where it does not."""
    key = a.plaintext
    a.api.get("/plans")
    a.api.get(f"/plans?api_key={key}")
    a.api.get(f"/{key}")
    a.api.post("/workspaces", f'{{"name": "{key}'.encode())
    a.api.post("/workspaces", {"name": key, "owner": key})
    anonymous.get("/plans", authorization=f"Bearer {key}x")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE agency_plan RENAME COLUMN description TO mislaid")
    a.api.get("/plans")
    formatter = JSONFormatter()
    lines = [formatter.format(record) for record in caplog.records]
    assert len(lines) >= 7
    assert not [line for line in lines if key[10:] in line]


def test_the_surface_s_description_carries_version_1_0_0(db: None, anonymous: Api) -> None:
    document = anonymous.get("/openapi.json").json()
    assert document["info"]["version"] == "1.0.0"
    assert document["openapi"].startswith("3.1")

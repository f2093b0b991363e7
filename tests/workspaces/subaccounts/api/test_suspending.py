"""Sub-account workspace status: active, suspended, active again."""

from datetime import datetime
from typing import Any

import pytest
from django.utils.timezone import now

from agency.models import Event
from tests import furnished
from tests.database.traces import traces
from tests.parallel import at_once
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer


def row(tenant: Tenant) -> Workspace:
    return Workspace.objects.get(pk=tenant.workspace.pk)


def test_active_is_suspended_with_one_event(a: Tenant) -> None:
    before = now()
    response = a.api.post(f"{a.path}/suspend", {"reason": "Invoice overdue"})
    sub_account = response.json()["data"]
    assert (response.status_code, sub_account["status"]) == (200, "suspended")
    assert before <= datetime.fromisoformat(sub_account["suspended_at"]) <= now()
    assert sub_account["suspended_at"].endswith("Z")
    assert row(a).suspension_reason == "Invoice overdue"
    assert a.event_names() == ["workspace.created", "workspace.suspended"]


def test_suspended_is_restored_with_one_event(a: Tenant) -> None:
    a.api.post(f"{a.path}/suspend", {"reason": "Invoice overdue"})
    sub_account = a.api.post(f"{a.path}/restore").json()["data"]
    assert (sub_account["status"], sub_account["suspended_at"]) == ("active", None)
    assert row(a).suspension_reason == ""
    assert a.event_names() == ["workspace.created", "workspace.suspended", "workspace.restored"]


def test_already_suspended_is_200_unchanged_without_an_event(a: Tenant) -> None:
    first = a.api.post(f"{a.path}/suspend", {"reason": "First"})
    before = traces()
    again = a.api.post(f"{a.path}/suspend", {"reason": "Second"})
    assert (again.status_code, again.content) == (200, first.content)
    assert traces() == before


def test_already_active_is_200_unchanged_without_an_event(a: Tenant) -> None:
    path = a.path
    before = traces()
    response = a.api.post(f"{path}/restore")
    assert (response.status_code, response.json()["data"]["status"]) == (200, "active")
    assert traces() == before


def test_it_can_be_suspended_again_and_each_time_is_sent(a: Tenant) -> None:
    for _ in range(2):
        a.api.post(f"{a.path}/suspend")
        a.api.post(f"{a.path}/restore")
    assert a.event_names()[1:] == ["workspace.suspended", "workspace.restored"] * 2


@pytest.mark.parametrize("body", [b"", {}, {"reason": None}, {"reason": ""}, {"reason": "  "}, {"unknown": 1}])
def test_a_reason_may_be_left_out(a: Tenant, body: Any) -> None:
    assert a.api.post(f"{a.path}/suspend", body).status_code == 200
    assert row(a).suspension_reason == ""


def test_a_reason_may_have_lines(a: Tenant) -> None:
    a.api.post(f"{a.path}/suspend", {"reason": "One\r\ntwo"})
    assert row(a).suspension_reason == "One\ntwo"


@pytest.mark.parametrize("reason", [7, ["x"], "x" * 501, "a\0b"])
def test_a_reason_that_is_none_is_422_and_suspends_nothing(a: Tenant, reason: Any) -> None:
    response = a.api.post(f"{a.path}/suspend", {"reason": reason})
    assert (response.status_code, list(response.json()["errors"])) == (422, ["reason"])
    assert row(a).is_active


@pytest.mark.parametrize("action", ["suspend", "restore"])
@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b"null", b'{"a": NaN}', b'{"a": 1, "a": 2}'])
def test_a_body_that_is_no_object_is_400_also_where_it_may_be_empty(a: Tenant, action: str, body: bytes) -> None:
    assert a.api.post(f"{a.path}/{action}", body).status_code == 400
    assert row(a).is_active


def test_the_reason_appears_in_no_answer_and_no_event(a: Tenant) -> None:
    response = a.api.post(f"{a.path}/suspend", {"reason": "Between us"})
    assert "Between us" not in response.content.decode()
    assert "Between us" not in str(a.events)


@pytest.mark.django_db(transaction=True)
def test_ten_parallel_suspensions_are_one_change_with_one_event(a: Tenant) -> None:
    path = a.path
    answers = at_once(lambda _: a.api.post(f"{path}/suspend"), times=10)
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert Event.objects.filter(name="workspace.suspended").count() == 1


@pytest.mark.django_db(transaction=True)
def test_parallel_suspensions_and_restorations_send_every_change_once_and_in_turn(a: Tenant) -> None:
    path = a.path
    at_once(lambda number: a.api.post(f"{path}/{('suspend', 'restore')[number % 2]}").status_code, times=12)
    sent = a.event_names()[1:]
    assert sent == ["workspace.suspended", "workspace.restored"] * (len(sent) // 2) + (
        ["workspace.suspended"] if len(sent) % 2 else []
    )
    assert row(a).is_active is (len(sent) % 2 == 0)

"""`GET` and `PATCH /workspaces/{workspace}`."""

from typing import Any
from uuid import uuid4

import pytest

from agency.limits import unlimited
from tests import furnished
from tests.database.traces import traces
from tests.factories import AddonFactory, ChannelFactory, PlanFactory, plan_limits
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

FIELDS = [
    "uuid", "name", "status", "plan", "owner", "business_type", "timezone", "created_at", "suspended_at",
    "external_id", "metadata",
]  # fmt: skip
GONE = {"message": "Sub-account not found."}


def test_a_sub_account_reads_as_in_the_list_with_addons_limits_and_channels(a: Tenant) -> None:
    plan = PlanFactory.create(agency=a.agency, limits=plan_limits(contacts=100, team_members=3))
    a.api.put(f"{a.path}/plan", {"plan": str(plan.uuid)})
    a.api.post(f"{a.path}/addons", {"addon": str(a.addon.uuid)})
    detail = a.api.get(a.path).json()["data"]
    assert list(detail) == [*FIELDS, "addons", "limits", "channels"]
    assert detail["addons"] == [{"uuid": str(a.addon.uuid), "name": a.addon.name}]
    assert detail["limits"] == plan_limits(contacts=600, team_members=3)
    assert detail["channels"] == []


def test_the_channels_of_a_sub_account_read_like_channels_anywhere(a: Tenant) -> None:
    ChannelFactory.create(workspace=a.workspace, platform="facebook", name="Page", handle="Corner Salon")
    channels = a.api.get(a.path).json()["data"]["channels"]
    assert channels == a.api.get(f"{a.path}/channels").json()["data"]
    assert [channel["platform"] for channel in channels] == ["facebook"]


def test_a_new_sub_account_without_a_plan_is_not_limited(a: Tenant) -> None:
    sub_account = a.api.post("/workspaces", {"name": "X", "owner": {"name": "A", "email": "a@example.com"}}).json()[
        "data"
    ]
    assert a.api.get(f"/workspaces/{sub_account['uuid']}").json()["data"]["limits"] == unlimited()


def test_an_upper_case_uuid_is_the_same_sub_account(a: Tenant) -> None:
    answer = a.api.get(f"/workspaces/{str(a.workspace.uuid).upper()}")
    assert answer.content == a.api.get(a.path).content
    assert answer.json()["data"]["uuid"] == str(a.workspace.uuid)


@pytest.mark.parametrize("uuid", ["x", "1", "8d1f3b1e", "%00", "..", "null", "{8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10}"])
def test_a_malformed_uuid_is_404(a: Tenant, uuid: str) -> None:
    response = a.api.get(f"/workspaces/{uuid}")
    assert (response.status_code, response.json()) == (404, GONE)


def test_an_unknown_and_another_agency_s_uuid_are_404_alike(a: Tenant, b: Tenant) -> None:
    for method in ("GET", "PATCH"):
        answers = [a.api.call(method, f"/workspaces/{uuid}", {"name": "X"}) for uuid in (uuid4(), b.workspace.uuid)]
        assert [(answer.status_code, answer.json()) for answer in answers] == [(404, GONE)] * 2
    assert Workspace.objects.get(pk=b.workspace.pk).name == b.workspace.name


def test_reading_costs_the_same_however_much_there_is_to_read(a: Tenant, django_assert_num_queries: Any) -> None:
    path = a.path
    for _ in range(3):
        ChannelFactory.create(workspace=a.workspace)
        a.api.post(f"{path}/addons", {"addon": str(AddonFactory.create(agency=a.agency).uuid)})
    for where, statements in (("", 4), ("/addons", 3), ("/channels", 3)):
        with django_assert_num_queries(statements):
            a.api.get(f"{path}{where}")


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "New name"},
        {"business_type": "other"},
        {"business_type": None},
        {"timezone": "Asia/Tokyo"},
        {"name": "All", "business_type": "salon_spa", "timezone": "UTC"},
    ],
)
def test_what_is_sent_changes_and_nothing_else(a: Tenant, changes: dict[str, Any]) -> None:
    a.api.patch(a.path, {"business_type": "real_estate", "timezone": "Europe/Berlin"})
    before = a.api.get(a.path).json()["data"]
    response = a.api.patch(a.path, changes)
    assert response.status_code == 200
    assert list(response.json()["data"]) == FIELDS
    assert a.api.get(a.path).json()["data"] == before | changes
    assert response.json()["data"] == {name: (before | changes)[name] for name in FIELDS}


def test_a_change_records_no_event(a: Tenant) -> None:
    a.api.patch(a.path, {"name": "New name"})
    assert a.event_names() == ["workspace.created"]


@pytest.mark.parametrize("body", [{}, {"unknown": 1}, {"status": "suspended", "plan": None, "limits": {}, "owner": {}}])
def test_a_body_without_a_field_of_ours_changes_nothing(a: Tenant, body: dict[str, Any]) -> None:
    path = a.path
    before = traces()
    assert a.api.patch(path, body).status_code == 200
    assert traces() == before


def test_the_same_values_again_leave_no_entry(a: Tenant) -> None:
    a.api.patch(a.path, {"name": "Same", "timezone": "Asia/Tokyo"})
    before = traces()
    a.api.patch(a.path, {"name": " Same ", "timezone": "Asia/Tokyo"})
    assert traces() == before


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"name": ""}, "name", "The name field is required."),
        ({"name": None}, "name", "The name field is required."),
        ({"name": "x" * 121}, "name", "The name field may have at most 120 characters."),
        ({"name": ["x"]}, "name", "The name field must be a string."),
        ({"timezone": None}, "timezone", "The timezone field is required."),
        ({"timezone": "utc+1"}, "timezone", "The timezone field must be an IANA time zone such as Europe/Berlin."),
        ({"business_type": ""}, "business_type", None),
        ({"business_type": 1}, "business_type", None),
    ],
)
def test_a_refused_change_changes_nothing(a: Tenant, changes: dict[str, Any], field: str, sentence: str | None) -> None:
    path = a.path
    before = traces()
    response = a.api.patch(path, {"name": "Would be new"} | changes)
    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]
    assert sentence is None or response.json()["errors"][field] == [sentence]
    assert traces() == before


def test_a_suspended_sub_account_can_be_read_and_changed(a: Tenant) -> None:
    a.api.post(f"{a.path}/suspend")
    assert a.api.patch(a.path, {"name": "Renamed"}).json()["data"]["status"] == "suspended"
    assert a.api.get(a.path).json()["data"]["name"] == "Renamed"

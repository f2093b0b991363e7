"""`/plans` and `/addons`: the agency's own, listed, read, created, changed and archived."""

from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.limits import CHANNEL_TYPES
from agency.models import ActivityEntry
from agency.services import archive_item, catalogue
from agency.services.catalogue import MOST_ITEMS
from tests.database.traces import traces
from tests.factories import AddonFactory, PlanFactory, addon_limits, plan_limits
from tests.parallel import at_once
from tests.tenants import Tenant, message

BOTH = pytest.mark.parametrize(("path", "factory"), [("/plans", PlanFactory), ("/addons", AddonFactory)])


@BOTH
def test_a_list_is_data_alone(a: Tenant, path: str, factory: Any) -> None:
    assert a.api.get(path).json() == {"data": []}


@BOTH
def test_an_item_has_uuid_name_description_and_limits(a: Tenant, path: str, factory: Any) -> None:
    limits = plan_limits(contacts=10, team_members=2, broadcasts_per_month=None, channels__sms=0)
    item = factory.create(agency=a.agency, name="Starter", description="For the first year", limits=limits)
    (shown,) = a.api.get(path).json()["data"]
    assert shown == {
        "uuid": str(item.uuid),
        "name": "Starter",
        "description": "For the first year",
        "limits": {
            "contacts": 10,
            "team_members": 2,
            "broadcasts_per_month": None,
            "channels": {name: 0 if name == "sms" else None for name in CHANNEL_TYPES},
        },
    }
    assert list(shown) == ["uuid", "name", "description", "limits"]
    assert list(shown["limits"]) == ["contacts", "team_members", "broadcasts_per_month", "channels"]
    assert list(shown["limits"]["channels"]) == [
        "whatsapp", "facebook", "instagram", "sms", "tiktok", "telegram", "livechat", "gbp",
    ]  # fmt: skip


@BOTH
def test_archived_items_are_left_out(a: Tenant, path: str, factory: Any) -> None:
    kept, gone = factory.create(agency=a.agency), factory.create(agency=a.agency)
    archive_item(item=gone, now=now(), by=SYSTEM)
    assert [item["uuid"] for item in a.api.get(path).json()["data"]] == [str(kept.uuid)]


@BOTH
def test_items_of_another_agency_are_left_out(a: Tenant, b: Tenant, path: str, factory: Any) -> None:
    factory.create(agency=b.agency)
    assert a.api.get(path).json() == {"data": []}


@BOTH
def test_query_parameters_of_the_paginated_list_mean_nothing_here(a: Tenant, path: str, factory: Any) -> None:
    items = [factory.create(agency=a.agency) for _ in range(3)]
    answer = a.api.get(f"{path}?page=2&per_page=1&limit=1&search=zzz&status=gone").json()
    assert [item["uuid"] for item in answer["data"]] == [str(item.uuid) for item in items]
    assert list(answer) == ["data"]


@BOTH
def test_the_list_costs_one_statement_however_long_it_is(
    a: Tenant, path: str, factory: Any, django_assert_num_queries: Any
) -> None:
    for _ in range(5):
        factory.create(agency=a.agency, limits=addon_limits())
    with django_assert_num_queries(2):  # with the key's own
        a.api.get(path)


def create(tenant: Tenant, path: str, **fields: Any) -> Any:
    return tenant.api.post(path, {"name": "Scale", "limits": {}} | fields)


@BOTH
def test_one_is_created_read_changed_and_archived(a: Tenant, path: str, factory: Any) -> None:
    limits = plan_limits(contacts=10, team_members=0, channels__sms=2)
    answer = create(a, path, name=" Scale ", description="Two\r\nlines", limits=limits)
    item = answer.json()["data"]
    assert answer.status_code == 201
    assert item == {"uuid": item["uuid"], "name": "Scale", "description": "Two\nlines", "limits": limits}
    assert a.api.get(path).json()["data"] == [item]
    one = f"{path}/{item['uuid']}"
    assert a.api.get(one).json() == {"data": item}
    changed = a.api.patch(one, {"name": "Scale up", "limits": {"contacts": None, "channels": {"sms": 3}}})
    assert changed.json() == {
        "data": item | {"name": "Scale up", "limits": plan_limits(team_members=0, channels__sms=3)}
    }
    assert a.api.get(one).json() == changed.json()
    assert a.api.delete(one).json() == {"data": {"archived": True}}
    assert a.api.get(path).json() == {"data": []}
    kind = path.removeprefix("/").removesuffix("s")
    actions = list(ActivityEntry.objects.filter(target_id=item["uuid"]).order_by("id").values_list("action", flat=True))
    assert actions == [f"{kind}.created", f"{kind}.changed", f"{kind}.archived"]


def test_a_limit_that_is_left_out_is_none_of_a_plan_and_nothing_of_an_add_on(a: Tenant) -> None:
    for sent in ({"contacts": 5}, {"contacts": 5, "channels": {}}):
        plan = create(a, "/plans", name=f"Plan {len(sent)}", limits=sent).json()["data"]
        addon = create(a, "/addons", name=f"Add-on {len(sent)}", limits=sent).json()["data"]
        assert (plan["limits"], addon["limits"]) == (plan_limits(contacts=5), addon_limits(contacts=5))


@BOTH
@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"description": "x" * 501}, "description"),
        ({"description": 7}, "description"),
        ({"limits": None}, "limits"),
        ({"limits": []}, "limits"),
        ({"limits": {"contacts": -1}}, "limits.contacts"),
        ({"limits": {"contacts": "5"}}, "limits.contacts"),
        ({"limits": {"contacts": 2**31}}, "limits.contacts"),
        ({"limits": {"contacts": 10**30}}, "limits.contacts"),
        ({"limits": {"team_members": True}}, "limits.team_members"),
        ({"limits": {"channels": {"whatsapp": 1.5}}}, "limits.channels.whatsapp"),
        ({"limits": {"channels": 3}}, "limits.channels"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field_and_leaves_nothing(
    a: Tenant, path: str, factory: Any, fields: dict[str, Any], where: str
) -> None:
    one = f"{path}/{factory.create(agency=a.agency).uuid}"
    before = traces()
    for refused in (create(a, path, **fields), a.api.patch(one, fields)):
        assert (refused.status_code, list(refused.json()["errors"])) == (422, [where])
    assert traces() == before


@BOTH
def test_name_and_limits_are_needed(a: Tenant, path: str, factory: Any) -> None:
    assert list(a.api.post(path, {}).json()["errors"]) == ["name", "limits"]
    assert create(a, path, description=None).json()["data"]["description"] == ""


@BOTH
def test_a_name_is_taken_in_any_case_until_its_holder_is_archived(a: Tenant, path: str, factory: Any) -> None:
    first = create(a, path, name="Café").json()["data"]["uuid"]
    other = create(a, path, name="Other").json()["data"]["uuid"]
    taken = {"name": ["Another entry of the catalogue has this name."]}
    for refused in (create(a, path, name="CAFE\u0301"), a.api.patch(f"{path}/{other}", {"name": "cafÉ"})):
        assert (refused.status_code, refused.json()["errors"]) == (422, taken)
    a.api.delete(f"{path}/{first}")
    assert create(a, path, name="café").status_code == 201


@BOTH
def test_an_archived_one_reads_like_one_that_is_not_there(a: Tenant, path: str, factory: Any) -> None:
    one = f"{path}/{factory.create(agency=a.agency).uuid}"
    a.api.delete(one)
    before = traces()
    missing = "Plan not found." if path == "/plans" else "Add-on not found."
    for method in ("GET", "PATCH", "DELETE"):
        answer = a.api.call(method, one, {"name": "New"})
        assert (answer.status_code, message(answer)) == (404, missing)
    assert traces() == before


@BOTH
def test_at_most_200_are_held_and_archived_ones_do_not_count(
    a: Tenant, path: str, factory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_ITEMS == 200
    monkeypatch.setattr(catalogue, "MOST_ITEMS", 2)
    made = [create(a, path, name=f"No {number}") for number in range(3)]
    assert [answer.status_code for answer in made] == [201, 201, 403]
    assert message(made[2]) == f"The {'plan' if path == '/plans' else 'add-on'} limit is reached."
    a.api.delete(f"{path}/{made[0].json()['data']['uuid']}")
    assert create(a, path, name="Room again").status_code == 201


@pytest.mark.django_db(transaction=True)
def test_the_last_place_is_taken_once_by_many_at_once(a: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "MOST_ITEMS", 1)
    answers = at_once(lambda number: create(a, "/plans", name=f"No {number}").status_code, times=4)
    assert sorted(answers) == [201, 403, 403, 403]


@BOTH
def test_a_repeated_creation_with_one_key_is_done_once(a: Tenant, path: str, factory: Any) -> None:
    body = {"name": "Scale", "limits": {"contacts": 5}}
    answers = [a.api.post(path, body, Idempotency_Key="once") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].content == answers[1].content
    assert a.api.post(path, body | {"name": "Other"}, Idempotency_Key="once").status_code == 409
    assert len(a.api.get(path).json()["data"]) == 1


def test_a_change_reaches_a_sub_account_when_its_plan_is_assigned_again(a: Tenant) -> None:
    path, before = a.path, a.api.get(a.path).json()["data"]["limits"]
    a.api.patch(f"/plans/{a.plan.uuid}", {"limits": {"contacts": 7}})
    assert a.api.get(path).json()["data"]["limits"] == before
    a.api.put(f"{path}/plan", {"plan": str(a.plan.uuid)})
    assert a.api.get(path).json()["data"]["limits"]["contacts"] == 7


@BOTH
def test_another_agency_s_is_404(a: Tenant, b: Tenant, path: str, factory: Any) -> None:
    foreign = factory.create(agency=b.agency)
    for method in ("GET", "PATCH", "DELETE"):
        assert a.api.call(method, f"{path}/{foreign.uuid}", {"name": "Mine"}).status_code == 404
    foreign.refresh_from_db()
    assert (foreign.archived_at, foreign.name != "Mine") == (None, True)


@BOTH
def test_null_clears_a_description(a: Tenant, path: str, factory: Any) -> None:
    item = factory.create(agency=a.agency, name="Starter", description="For the first year")
    answer = a.api.patch(f"{path}/{item.uuid}", {"description": None})
    assert (answer.status_code, answer.json()["data"]["description"]) == (200, "")
    assert a.api.patch(f"{path}/{item.uuid}", {"name": "Begin"}).json()["data"]["description"] == ""

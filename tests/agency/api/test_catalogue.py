"""`GET /plans` and `GET /addons`: the agency's own, archived ones left out."""

from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.limits import CHANNEL_TYPES
from agency.services import archive_item
from tests.factories import AddonFactory, PlanFactory, addon_limits, plan_limits
from tests.tenants import Tenant

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

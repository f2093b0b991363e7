"""What serializers write, of instances and of rows, and what they read."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest
from django.contrib.auth.models import Group, Permission
from rest_framework import serializers

from config.api.fields import DateTimeField, IntegerField, ListField, UUIDField
from config.api.serializers import IncompleteRow, Serializer, TenantRelatedField
from config.api.text_fields import CharField
from config.errors import NotFound
from tests.tenants import Tenant
from workspaces.subaccounts.api.serializers import SubAccountDetailSerializer, SubAccountSerializer


class Plan(Serializer):
    uuid = UUIDField(example="3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11")
    name = CharField(max_length=20, example="Growth")


class Owner(Serializer):
    name = CharField(source="owner_name", max_length=20, example="Ada")


class Doubled(IntegerField):
    is_written_as_it_is = False

    def to_representation(self, value: int) -> int:
        return value * 2


class Shop(Serializer):
    name = CharField(max_length=20, example="Bakery")
    plan = Plan(allow_null=True)
    owner = Owner(source="*")
    note = CharField(max_length=20, blank_as_null=True)
    size = Doubled(allow_null=True)
    tags = ListField(child=CharField(max_length=5, example="new"), max_length=3)
    made_at = DateTimeField(read_only=True, source="created_at")
    secret = CharField(max_length=20, write_only=True, example="hush")


class Shops(Serializer):
    shops = Shop(many=True)


MOMENT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
PLAN = UUID("3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11")


def a_shop(**changes: Any) -> SimpleNamespace:
    fields = {
        "name": "Bakery",
        "plan": SimpleNamespace(uuid=PLAN, name="Growth"),
        "owner_name": "Ada",
        "note": "",
        "size": 4,
        "tags": ["new"],
        "created_at": MOMENT,
        "secret": "hush",
    }
    return SimpleNamespace(**fields | changes)


def a_row(**changes: Any) -> dict[str, Any]:
    """The same shop as the columns of a statement."""
    columns = vars(a_shop())
    del columns["plan"], columns["secret"]
    return columns | {"plan__uuid": PLAN, "plan__name": "Growth"} | changes


SHOWN = {
    "name": "Bakery",
    "plan": {"uuid": PLAN, "name": "Growth"},
    "owner": {"name": "Ada"},
    "note": None,
    "size": 8,
    "tags": ["new"],
    "made_at": MOMENT,
}


def test_an_instance_is_written_field_by_field_in_the_declared_order() -> None:
    data = Shop(a_shop()).data
    assert data == SHOWN
    assert list(data) == list(SHOWN)


def test_a_row_with_joined_columns_is_written_alike() -> None:
    assert Shop(a_row()).data == SHOWN
    assert set(Shop.columns()) == set(a_row())


def test_a_row_may_hold_a_nested_object_whole() -> None:
    whole = {name: value for name, value in a_row().items() if not name.startswith("plan__")}
    assert Shop(whole | {"plan": {"uuid": PLAN, "name": "Growth"}}).data == SHOWN
    assert Shop(whole | {"plan": SimpleNamespace(uuid=PLAN, name="Growth")}).data == SHOWN
    assert Shop(whole | {"plan": None}).data == {**SHOWN, "plan": None}


def test_what_is_missing_is_null() -> None:
    assert Shop(a_shop(plan=None, size=None)).data == {**SHOWN, "plan": None, "size": None}
    assert Shop(a_row(plan__uuid=None, plan__name=None, size=None)).data == {**SHOWN, "plan": None, "size": None}


def test_many_are_written_one_by_one_rows_and_instances_mixed() -> None:
    written: Any = Shop([a_shop(), a_row()], many=True).data
    assert written == [SHOWN, SHOWN]
    assert Shops(SimpleNamespace(shops=[a_shop(), a_row()])).data == {"shops": [SHOWN, SHOWN]}


def test_a_row_without_a_column_is_a_fault() -> None:
    row = a_row()
    del row["plan__name"]
    with pytest.raises(IncompleteRow, match="plan__name"):
        _ = Shop(row).data


@pytest.mark.django_db
@pytest.mark.parametrize("serializer", [SubAccountSerializer, SubAccountDetailSerializer])
def test_what_is_compiled_writes_what_the_framework_would(a: Tenant, serializer: type[Serializer]) -> None:
    _ = a.channel
    workspace = a.workspace
    compiled = json.loads(orjson.dumps(serializer(workspace).data))
    usual = serializers.Serializer.to_representation(serializer(workspace), workspace)
    assert {name: compiled[name] for name in ("uuid", "name", "status", "timezone", "owner", "plan")} == {
        name: json.loads(orjson.dumps(usual[name])) for name in ("uuid", "name", "status", "timezone", "owner", "plan")
    }
    assert list(compiled) == list(usual)


def test_examples_follow_from_the_fields() -> None:
    assert Shop.example() == {
        "name": "Bakery",
        "plan": {"uuid": str(PLAN), "name": "Growth"},
        "owner": {"name": "Ada"},
        "note": None,
        "size": 0,
        "tags": ["new"],
        "made_at": "2026-11-20T09:30:00Z",
    }
    request = Shop.request_example()
    assert request["secret"] == "hush"
    assert "made_at" not in request


class GroupIsMissing(NotFound):
    message = "Group not found."


class Named(Serializer):
    """Takes a permission's codename in place of a uuid's row."""

    name = CharField(max_length=5)
    group = TenantRelatedField(
        queryset=lambda context: context["groups"], missing=GroupIsMissing, representation=Plan(), allow_null=True
    )


class Rows:
    """Stands for a queryset of the tenant's own."""

    def __init__(self, **found: Any) -> None:
        self.found, self.asked = found, 0

    def filter(self, *, uuid: UUID) -> "Rows":
        self.asked += 1
        return Rows(first=self.found.get(str(uuid)))

    def first(self) -> Any:
        return self.found["first"]


def test_a_related_object_is_looked_up_among_the_tenants_own() -> None:
    identity, mine = uuid4(), object()
    body = Named(data={"name": "x", "group": str(identity)}, context={"groups": Rows(**{str(identity): mine})})
    assert body.is_valid()
    assert body.validated_data["group"] is mine
    stranger = Named(data={"name": "x", "group": str(uuid4())}, context={"groups": Rows()})
    with pytest.raises(GroupIsMissing):
        stranger.is_valid()


def test_nothing_is_looked_up_for_a_body_that_is_refused() -> None:
    rows = Rows()
    body = Named(data={"name": "much too long", "group": str(uuid4())}, context={"groups": rows})
    assert not body.is_valid()
    assert rows.asked == 0


def test_null_and_no_uuid_are_looked_up_nowhere() -> None:
    rows = Rows()
    assert Named(data={"name": "x", "group": None}, context={"groups": rows}).is_valid()
    assert not Named(data={"name": "x", "group": "no-uuid"}, context={"groups": rows}).is_valid()
    assert rows.asked == 0


@pytest.mark.django_db
def test_a_manager_stands_for_all_that_it_manages() -> None:
    class Member(Serializer):
        name = CharField()

    class Team(Serializer):
        permissions = Member(many=True)

    group = Group.objects.create(name="A team")
    group.permissions.add(*Permission.objects.order_by("id")[:2])
    assert len(Team(group).data["permissions"]) == 2

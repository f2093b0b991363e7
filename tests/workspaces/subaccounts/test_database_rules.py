"""What the database itself holds about sub-accounts, whatever the code above it does."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils.timezone import now

from agency.models import Agency
from tests.factories import AgencyFactory, WorkspaceFactory, a_workspace_key, many_workspaces
from tests.parallel import at_once
from tests.tenants import Tenant
from workspaces.subaccounts.models import Channel, HeldAddon, Workspace, WorkspaceKey

pytestmark = pytest.mark.django_db


def count(agency: Agency) -> int:
    return Agency.objects.get(pk=agency.pk).sub_account_count


def execute(statement: str, values: list[Any]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_the_number_of_sub_accounts_follows_one_and_many(a: Tenant, b: Tenant) -> None:
    WorkspaceFactory.create(agency=a.agency)
    many_workspaces(a.agency, 20)
    many_workspaces(b.agency, 3)
    assert (count(a.agency), count(b.agency)) == (21, 3)
    Workspace.objects.filter(name__in=["Crowd 1", "Crowd 2"]).delete()
    assert (count(a.agency), count(b.agency)) == (19, 1)


def test_one_statement_about_two_agencies_counts_each(a: Tenant, b: Tenant) -> None:
    many_workspaces(a.agency, 2)
    many_workspaces(b.agency, 5)
    Workspace.objects.all().delete()
    assert (count(a.agency), count(b.agency)) == (0, 0)


def test_what_is_rolled_back_is_not_counted(a: Tenant) -> None:
    with transaction.atomic():
        many_workspaces(a.agency, 5)
        transaction.set_rollback(True)
    assert count(a.agency) == 0


def test_updates_are_not_counted(a: Tenant) -> None:
    many_workspaces(a.agency, 5)
    Workspace.objects.of(a.agency).update(name="Renamed")
    assert count(a.agency) == 5


def test_a_sub_account_stays_with_its_agency(a: Tenant, b: Tenant) -> None:
    with pytest.raises(DatabaseError, match="stays with its agency"), transaction.atomic():
        Workspace.objects.filter(pk=a.workspace.pk).update(agency=b.agency)


@pytest.mark.parametrize(
    "change", [{"status": "suspended"}, {"suspended_at": now()}, {"status": "gone"}, {"status": ""}]
)
def test_a_sub_account_is_suspended_exactly_when_it_has_a_time_of_suspension(a: Tenant, change: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="workspace_suspension_has_a_time"), transaction.atomic():
        Workspace.objects.filter(pk=a.workspace.pk).update(**change)


@pytest.mark.parametrize("change", [{"name": ""}, {"name_key": ""}])
def test_a_sub_account_has_a_name(a: Tenant, change: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="workspace_has_a_name"), transaction.atomic():
        Workspace.objects.filter(pk=a.workspace.pk).update(**change)


def test_an_addon_is_held_once(a: Tenant) -> None:
    values = {"workspace": a.workspace, "addon": a.addon, "limits": {}}
    HeldAddon.objects.create(**values)
    with pytest.raises(IntegrityError, match="addon_held_once"), transaction.atomic():
        HeldAddon.objects.create(**values)


@pytest.mark.parametrize("length", [0, 31, 33])
def test_the_hash_of_a_workspace_s_key_has_32_bytes(a: Tenant, length: int) -> None:
    key, _ = a_workspace_key(a.workspace)
    with pytest.raises(IntegrityError, match="workspace_key_hash_is_sha256"):
        execute("UPDATE subaccounts_workspacekey SET key_hash = %s WHERE id = %s", [b"x" * length, key.pk])


def test_a_workspace_s_key_outlives_it(a: Tenant) -> None:
    key, _ = a_workspace_key(a.workspace)
    a.workspace.delete()
    assert WorkspaceKey.objects.get(pk=key.pk).workspace is None


@pytest.mark.parametrize(
    ("change", "rule"),
    [({"platform": "fax"}, "channel_platform_is_known"), ({"status": "gone"}, "channel_status_is_known")],
)
def test_a_channel_has_a_known_platform_and_status(a: Tenant, change: dict[str, str], rule: str) -> None:
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        Channel.objects.filter(pk=a.channel.pk).update(**change)


def test_a_plan_in_use_cannot_be_deleted(a: Tenant) -> None:
    assert a.workspace.plan == a.plan
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with pytest.raises(IntegrityError):
        execute("DELETE FROM agency_plan WHERE id = %s", [a.plan.pk])


def test_rows_name_themselves_in_lists(a: Tenant) -> None:
    held = HeldAddon.objects.create(workspace=a.workspace, addon=a.addon, limits={})
    key, plaintext = a_workspace_key(a.workspace, name="Shop")
    assert str(a.workspace) == a.workspace.name
    assert str(held) == f"{a.addon.name} of {a.workspace.name}"
    assert str(key) == f"Shop ({plaintext[:12]}…)"
    assert str(a.channel) == f"{a.channel.name} (WhatsApp)"


@pytest.mark.django_db(transaction=True)
def test_parallel_additions_are_all_counted() -> None:
    agency = AgencyFactory.create()
    at_once(lambda number: many_workspaces(agency, number + 1), times=6)
    assert count(agency) == 21 == Workspace.objects.of(agency).count()

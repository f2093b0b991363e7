"""How many sub-accounts an agency may hold."""

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agency.actors import SYSTEM
from agency.models import Event, User
from agency.services import change_agency
from tests.database.traces import traces
from tests.parallel import at_once
from tests.tenants import Tenant, a_new_customer
from workspaces.subaccounts.models import Workspace

REACHED = {"message": "The sub-account limit of this agency is reached."}


def allow(tenant: Tenant, number: int | None) -> None:
    change_agency(agency=tenant.agency, name=tenant.agency.name, max_sub_accounts=number, by=SYSTEM)


def test_past_the_limit_a_creation_is_403_and_leaves_nothing(a: Tenant) -> None:
    allow(a, 1)
    assert a.api.post("/workspaces", a_new_customer()).status_code == 201
    before = traces()
    refused = a.api.post("/workspaces", a_new_customer())
    assert (refused.status_code, refused.json()) == (403, REACHED)
    assert traces() == before


def test_an_agency_that_may_hold_none_holds_none(a: Tenant) -> None:
    allow(a, 0)
    assert a.api.post("/workspaces", a_new_customer()).status_code == 403


def test_without_a_limit_there_is_none(a: Tenant) -> None:
    allow(a, None)
    assert a.api.post("/workspaces", a_new_customer()).status_code == 201


def test_a_limit_below_what_is_there_only_stops_new_ones(a: Tenant) -> None:
    uuid = a.workspace.uuid
    allow(a, 0)
    assert a.api.patch(f"/workspaces/{uuid}", {"name": "Renamed"}).status_code == 200
    assert a.api.post("/workspaces", a_new_customer()).status_code == 403


def test_suspended_sub_accounts_count_too(a: Tenant) -> None:
    allow(a, 1)
    a.api.post(f"{a.path}/suspend")
    assert a.api.post("/workspaces", a_new_customer()).status_code == 403


def test_a_refusal_of_the_limit_comes_after_those_of_the_fields(a: Tenant) -> None:
    allow(a, 0)
    assert a.api.post("/workspaces", {}).status_code == 422


def test_each_agency_has_its_own_limit(a: Tenant, b: Tenant) -> None:
    allow(a, 0)
    assert b.api.post("/workspaces", a_new_customer()).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_ten_parallel_creations_never_pass_the_limit(a: Tenant) -> None:
    allow(a, 3)
    answers = at_once(lambda _: a.api.post("/workspaces", a_new_customer()).status_code, times=10)
    assert Counter(answers) == {201: 3, 403: 7}
    assert Workspace.objects.of(a.agency).count() == 3
    assert Event.objects.filter(agency=a.agency, name="workspace.created").count() == 3
    assert User.objects.filter(owned_workspaces__isnull=True).count() == 0


@pytest.mark.parametrize(("limit", "locks"), [(None, 0), (50, 1)])
def test_a_creation_locks_its_agency_last_and_only_for_a_limit(a: Tenant, limit: int | None, locks: int) -> None:
    allow(a, limit)
    with CaptureQueriesContext(connection) as captured:
        assert a.api.post("/workspaces", a_new_customer()).status_code == 201
    statements = [one["sql"] for one in captured if "SAVEPOINT" not in one["sql"]]
    asked = [sql for sql in statements if 'FROM "agency_agency"' in sql and "max_sub_accounts" in sql]
    assert len(asked) == 1
    assert 'INSERT INTO "subaccounts_workspace"' in statements[-1]  # whose trigger counts it in the agency's row
    assert "FOR NO KEY UPDATE" in statements[-2]
    assert '"max_sub_accounts" IS NOT NULL' in statements[-2]
    with connection.cursor() as cursor:
        cursor.execute(statements[-2])
        assert len(cursor.fetchall()) == locks

"""The plan's broadcasts per month: taken when one is scheduled, given back when it is cancelled before it begins."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils.timezone import now

from broadcasts.models import Broadcast
from broadcasts.services.counts import count_of_month
from tests import furnished
from tests.broadcasts.making import a_body, bring_to, create
from tests.factories import plan_limits
from tests.parallel import at_once
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_channel

pytestmark = pytest.mark.django_db
REFUSED = {"broadcasts_per_month": ["The plan of this sub-account allows 2 broadcasts per month."]}


@pytest.fixture
def limited(a: Tenant) -> Tenant:
    """A workspace whose plan has two broadcasts per month."""
    Workspace.objects.filter(pk=a.workspace.pk).update(limits=plan_limits(broadcasts_per_month=2))
    return a


def used(a: Tenant) -> Any:
    return a.api.get(f"/workspaces/{a.workspace.uuid}/usage").json()["data"]["broadcasts_per_month"]


def schedule(a: Tenant, shown: dict[str, Any]) -> Any:
    return a.workspace_api.post(f"/broadcasts/{shown['id']}/schedule")


def test_one_too_many_is_refused_with_the_limits_name(limited: Tenant) -> None:
    a = limited
    drafts = [create(a) for _ in range(3)]
    assert used(a) == {"used": 0, "limit": 2}
    assert [schedule(a, one).status_code for one in drafts] == [200, 200, 422]
    assert used(a) == {"used": 2, "limit": 2}
    assert schedule(a, drafts[2]).json()["errors"] == REFUSED
    answer = a.workspace_api.post("/broadcasts", a_body(a, schedule=True))
    assert (answer.status_code, answer.json()["errors"]) == (422, REFUSED)
    assert Broadcast.objects.count() == 3


def test_what_is_no_draft_is_refused_for_that_also_at_the_limit(limited: Tenant) -> None:
    a = limited
    first, _ = create(a, schedule=True), create(a, schedule=True)
    answer = schedule(a, first)
    assert (answer.status_code, answer.json()["message"]) == (409, "This broadcast has been scheduled already.")


def test_one_that_never_began_is_given_back(limited: Tenant) -> None:
    a = limited
    first, second = create(a, schedule=True), create(a, schedule=True)
    bring_to(first, "sending")
    for shown in (first, second):
        assert a.workspace_api.post(f"/broadcasts/{shown['id']}/cancel").status_code == 200
    assert used(a)["used"] == 1


def test_a_month_is_the_workspaces_own(limited: Tenant) -> None:
    a = limited
    broadcast = bring_to(create(a), "Scheduled")
    # In Auckland it is the first of December already.
    Broadcast.objects.filter(pk=broadcast.pk).update(counted_at=datetime(2026, 11, 30, 10, 59, tzinfo=UTC))
    moment = datetime(2026, 11, 30, 12, tzinfo=UTC)
    a.workspace.timezone = "Pacific/Auckland"
    assert count_of_month(a.workspace, now=moment) == 0
    a.workspace.timezone = "Europe/Berlin"
    assert count_of_month(a.workspace, now=moment) == 1


@pytest.mark.django_db(transaction=True)
def test_many_at_once_never_pass_the_limit(limited: Tenant) -> None:
    a = limited
    drafts = [create(a) for _ in range(6)]
    api = a.workspace_api
    answers = at_once(lambda number: api.post(f"/broadcasts/{drafts[number]['id']}/schedule").status_code, times=6)
    assert sorted(answers) == [200, 200, 422, 422, 422, 422]
    assert count_of_month(a.workspace, now=now()) == 2

"""A limit that a call meets is met on the page: it says the same, and nothing is changed or recorded."""

from collections.abc import Callable
from typing import Any

import pytest

from agency.models import Agency
from tests import furnished
from tests.agency.console.browsers import text
from tests.same_changes.changes import Place
from tests.same_changes.test_same_changes import CHANGES
from tests.tenants import Tenant, message
from workspaces.classes.models import ClassSession
from workspaces.subaccounts.models import Workspace

a, b = furnished.a, furnished.b
pytestmark = pytest.mark.django_db
Reach = Callable[[Tenant], None]
# How many of a thing there may be, whatever the plan: the constant of its service.
CONSTANTS = {
    "console:plan-new": "agency.services.catalogue.MOST_ITEMS",
    "console:addon-new": "agency.services.catalogue.MOST_ITEMS",
    "console:pack-new": "packs.services.packs.MOST_PACKS",
    "console:webhook-new": "webhooks.services.endpoints.MOST_ENDPOINTS",
    "app:webhook-new": "webhooks.services.endpoints.MOST_ENDPOINTS",
    "app:segment-new": "workspaces.contacts.services.segments.MOST_SEGMENTS",
    "app:staff-new": "workspaces.catalogue.services.staff.MOST_STAFF",
    "app:service-new": "workspaces.catalogue.services.services.MOST_SERVICES",
    "app:service-category-new": "workspaces.catalogue.services.services.MOST_CATEGORIES",
}


def sub_accounts(tenant: Tenant) -> None:
    Agency.objects.filter(pk=tenant.agency.pk).update(max_sub_accounts=1)


def limit(**limits: Any) -> Reach:
    def reach(tenant: Tenant) -> None:
        tenant.workspace.limits = {**tenant.workspace.limits, **limits}
        Workspace.objects.filter(pk=tenant.workspace.pk).update(limits=tenant.workspace.limits)

    return reach


def seats(tenant: Tenant) -> None:
    ClassSession.objects.filter(workspace=tenant.workspace).update(capacity=1)


REACHED: dict[str, Reach] = {
    "console:sub-account-new": sub_accounts,
    "app:contact-new": limit(contacts=1),
    "app:class-participant-add": seats,
    "app:broadcast-schedule": limit(broadcasts_per_month=0),
}


def nothing(_: Tenant) -> None:
    return None


@pytest.mark.parametrize("name", [*CONSTANTS, *REACHED])
def test_a_limit_of_the_api_is_the_page_s(name: str, a: Tenant, b: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    change, reach = CHANGES[name], REACHED.get(name, nothing)
    by_page, by_call = (Place.of(tenant, change.prepare) for tenant in (a, b))
    for tenant in (a, b):
        reach(tenant)
    if name in CONSTANTS:
        monkeypatch.setattr(CONSTANTS[name], 0)
    called = by_call.call(change)
    assert called.status_code in {403, 409, 422}, called.content
    posted = by_page.post(name, change)
    assert posted.status_code in {302, 403, 409, 422}, text(posted)
    assert message(called) in text(by_page.shown(posted))
    assert by_page.left_behind() == by_call.left_behind() == {"events": [], "activity": []}

"""The lists of bulk changes and exports: the newest first, narrowed by filters in the address, kept as views."""

from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import BulkOperation, Export
from tests import furnished
from tests.agency.console.browsers import a_member, hidden, text
from tests.tenants import Tenant

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
EXPORTS, BULK = "/console/exports", "/console/bulk-changes"


def some(a: Tenant, model: Any, *rows: dict[str, Any]) -> list[Any]:
    """Make ended jobs of the agency, the last of them the newest."""
    person = a_member(a.agency, "owner").user
    usual = {"agency": a.agency, "created_by": person, "state": "completed", "ended_at": now()}
    return list(model.objects.bulk_create(model(**{**usual, **row}) for row in rows))


def shown(browser: Client, address: str) -> list[Any]:
    return list(browser.get(address).context["rows"])


# The numbers of the rows that a list shows, by the filters in its address.
EXPORTS_SHOWN = {
    "": [2, 1, 0],
    "kind=activity": [1],
    "state=stopped": [2],
    "format=jsonl": [1],
    "kind=sub-accounts&state=completed": [0],
    "kind=activity&state=stopped": [],
    "state=nonsense": [2, 1, 0],
}
CHANGES_SHOWN = {
    "": [1, 0],
    "kind=sub_accounts.restore": [1],
    "state=cancelled": [1],
    "state=completed": [0],
    "kind=sub_accounts.suspend&state=cancelled": [],
}


def test_exports_are_narrowed_by_list_state_and_format(a: Tenant, b: Tenant, admin: Client) -> None:
    some(b, Export, {"kind": "sub-accounts"})
    made = some(
        a,
        Export,
        {"kind": "sub-accounts"},
        {"kind": "activity", "format": "jsonl"},
        {"kind": "sub-accounts", "state": "stopped"},
    )
    found = {query: [made.index(row) for row in shown(admin, f"{EXPORTS}?{query}")] for query in EXPORTS_SHOWN}
    assert found == EXPORTS_SHOWN


def test_bulk_changes_are_narrowed_by_action_and_state(a: Tenant, b: Tenant, viewer: Client) -> None:
    some(b, BulkOperation, {"kind": "sub_accounts.suspend"})
    made = some(
        a, BulkOperation, {"kind": "sub_accounts.suspend"}, {"kind": "sub_accounts.restore", "state": "cancelled"}
    )
    found = {query: [made.index(row) for row in shown(viewer, f"{BULK}?{query}")] for query in CHANGES_SHOWN}
    assert found == CHANGES_SHOWN


@pytest.mark.parametrize(("path", "model"), [(EXPORTS, Export), (BULK, BulkOperation)])
def test_older_ones_are_on_older_pages_of_the_size_asked_for(a: Tenant, admin: Client, path: str, model: Any) -> None:
    made = some(a, model, *({"kind": "sub-accounts"} for _ in range(51)))[::-1]
    assert shown(admin, path) == made[:25]
    assert shown(admin, f"{path}?size=50") == made[:50]
    page = admin.get(f"{path}?state=completed&before={made[24].pk}")
    assert list(page.context["rows"]) == made[25:50]
    assert f"state=completed&amp;before={made[49].pk}" in page.content.decode()


@pytest.mark.parametrize(("path", "page"), [(EXPORTS, "console:exports"), (BULK, "console:bulk-operations")])
def test_what_is_shown_can_be_kept_as_a_view(a: Tenant, admin: Client, path: str, page: str) -> None:
    some(a, Export, {"kind": "activity"})
    some(a, BulkOperation, {"kind": "sub_accounts.restore"})
    form = admin.get(f"{path}?state=completed")
    assert hidden(form, "page") == page
    admin.post("/console/views", {"page": page, "query": "state=completed", "name": "Ended"})
    assert '<a href="?state=completed">Ended</a>' in admin.get(path).content.decode()


@pytest.mark.parametrize("path", [EXPORTS, BULK])
def test_nothing_that_matches_is_said_apart_from_nothing_at_all(a: Tenant, admin: Client, path: str) -> None:
    assert "yet" in text(admin.get(path))
    some(a, Export, {"kind": "activity"})
    some(a, BulkOperation, {"kind": "sub_accounts.restore"})
    assert "Try other words or fewer filters." in text(admin.get(f"{path}?state=running"))

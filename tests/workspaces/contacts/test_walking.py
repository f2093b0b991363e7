"""Pages of a long list: walked to the end while it grows, and found over the index however far down they are."""

from typing import Any

import pytest
from django.db import connection

from agency.limits import unlimited
from tests.tenants import Tenant
from workspaces.contacts.models import Contact
from workspaces.contacts.models.contacts import newest_page
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.django_db
CONTACTS = 2_000
# So many that PostgreSQL prefers the index whatever the tests before have left in the table.
OF_A_LONG_LIST = 10_000
INSERT = """
INSERT INTO contacts_contact (uuid, workspace_id, name, tags, search_key, created_at, updated_at)
SELECT gen_random_uuid(), %s, 'Contact ' || n, '{}', 'contact ' || n, now() - n * interval '1 second', now()
FROM generate_series(1, %s) AS n
"""


def make_contacts(a: Tenant, number: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [a.workspace.pk, number])
        cursor.execute("ANALYZE contacts_contact")


def test_thousands_of_contacts_are_walked_while_others_come(a: Tenant, settings: Any) -> None:
    settings.ADDRESS_LIMIT = 1_000
    Workspace.objects.filter(pk=a.workspace.pk).update(limits=unlimited())
    make_contacts(a, CONTACTS)
    there = set(map(str, Contact.objects.values_list("uuid", flat=True)))
    path, met, pages = "/contacts?per_page=100", [], 0
    while path:
        if pages % 4 == 0:
            assert a.workspace_api.post("/contacts", {"name": f"New {pages}"}).status_code == 201
        answer = a.workspace_api.get(path)
        assert answer.status_code == 200
        page = answer.json()
        met += [one["id"] for one in page["data"]]
        path = (page["links"]["next"] or "").partition("/api/v1")[2]
        pages += 1
    assert there <= set(met)
    assert page["meta"]["total"] == CONTACTS + 6
    assert pages == 21


def test_a_late_page_is_found_in_the_index_alone(a: Tenant) -> None:
    make_contacts(a, OF_A_LONG_LIST)
    with connection.cursor() as cursor:
        # The table is small enough here to be read and sorted whole; in a large one that is no choice.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    plan = newest_page(Contact.objects.of(a.workspace), OF_A_LONG_LIST - 100, 25).explain()
    assert "Index Only Scan using contact_newest" in plan
    assert "using contacts_contact_pkey" in plan

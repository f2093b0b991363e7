"""Pages of a long list: walked to the end while it grows, and found over the index however far down they are."""

from typing import Any

import pytest
from django.db import connection

from agency.limits import unlimited
from tests import furnished
from tests.tenants import Tenant
from workspaces.contacts.models import Contact, ContactTag
from workspaces.contacts.models.contacts import newest_page, newest_page_with_tag
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
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
        cursor.execute("SET LOCAL enable_sort = off")
    plan = newest_page(Contact.objects.of(a.workspace), OF_A_LONG_LIST - 100, 25).explain()
    assert "Index Only Scan using contact_newest" in plan
    assert "using contacts_contact_pkey" in plan


def kept_tags(a: Tenant) -> set[tuple[str, int]]:
    rows = ContactTag.objects.filter(workspace_id=a.workspace.pk)
    found = list(rows.values_list("tag_key", "contact_id", "created_at"))
    assert all(Contact.objects.get(pk=pk).created_at == at for _, pk, at in found)
    return {(key, pk) for key, pk, _ in found}


def tags_of_contacts(a: Tenant) -> set[tuple[str, int]]:
    return {(key, one.pk) for one in Contact.objects.of(a.workspace) for key in one.tag_keys}


def test_tags_are_kept_in_the_order_of_the_list_whatever_becomes_of_a_contact(a: Tenant) -> None:
    ids = [
        a.workspace_api.post("/contacts", {"name": f"Contact {number}", "tags": tags}).json()["data"]["id"]
        for number, tags in enumerate([["VIP", "New"], ["vip"], [], ["New"]])
    ]
    rows = [{"name": "Imported", "phone": f"+4915100000{number}", "tags": ["VIP"]} for number in range(10, 14)]
    for steps in (
        lambda: a.workspace_api.post("/contacts/import", {"contacts": rows}),
        lambda: a.workspace_api.patch(f"/contacts/{ids[2]}", {"tags": ["Old", "Very old"]}),
        lambda: a.workspace_api.patch(f"/contacts/{ids[0]}", {"tags": ["New", "Newer"]}),
        lambda: a.workspace_api.post("/contacts/import", {"contacts": [{**one, "tags": ["x"]} for one in rows]}),
        lambda: a.workspace_api.post(f"/contacts/{ids[1]}/merge", {"contact": ids[3]}),
        lambda: a.workspace_api.delete(f"/contacts/{ids[0]}"),
        lambda: Contact.objects.of(a.workspace).update(created_at="2026-01-01T00:00:00Z"),
    ):
        steps()
        assert kept_tags(a) == tags_of_contacts(a)
    assert kept_tags(a)


def tags_read_one_after_the_other() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'contacts_contacttag'")
        return int(cursor.fetchone()[0])


def test_a_session_that_planned_with_few_tags_finds_them_by_index_among_many(a: Tenant) -> None:
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE contacts_contacttag")
        make_contacts(a, 3)
        for planned in range(7):
            Contact.objects.update(tags=["Few"], tag_keys=[f"few{planned}"])
            cursor.execute("ANALYZE contacts_contacttag")
    make_contacts(a, CONTACTS)
    before = tags_read_one_after_the_other()
    Contact.objects.update(tags=["All"], tag_keys=["all"])
    assert tags_read_one_after_the_other() - before < CONTACTS


def test_the_contacts_with_a_tag_are_walked_with_their_number(a: Tenant) -> None:
    make_contacts(a, CONTACTS)
    Contact.objects.filter(name__endswith="7").update(tags=["Seven"], tag_keys=["seven"])
    met, total = [], None
    for page in range(1, 6):
        answer = a.workspace_api.get(f"/contacts?tag=SEVEN&per_page=50&page={page}").json()
        met += [one["name"] for one in answer["data"]]
        total = answer["meta"]["total"]
    assert met == [f"Contact {number}" for number in range(1, CONTACTS + 1) if number % 10 == 7]
    assert total == len(met) == CONTACTS // 10


def test_a_page_with_a_tag_is_found_in_an_index_alone(a: Tenant) -> None:
    make_contacts(a, OF_A_LONG_LIST)
    Contact.objects.update(tags=["All"], tag_keys=["all"])
    oldest = Contact.objects.order_by("created_at").values("pk")[:100]
    Contact.objects.filter(pk__in=oldest).update(tags=["All", "Oldest"], tag_keys=["all", "oldest"])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE contacts_contact, contacts_contacttag")
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
    for tag in ("all", "oldest", "nobody"):
        plan = newest_page_with_tag(a.workspace, tag, 50, 25).explain()
        assert "Index Only Scan Backward using contacts_contacttag_pkey" in plan, tag
        assert "using contacts_contact_pkey" in plan, tag
        assert plan.count("Sort Key") == 1, tag  # of the page's rows, not of the walk

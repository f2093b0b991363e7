"""The list with 100,000 sub-accounts under one agency: as many statements as ever, each answered by an index.

In the small form they are 20,000, for which PostgreSQL takes the same plans.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoDbBlocker

from tests.factories import WorkspaceFactory, many_workspaces
from tests.sizes import size
from tests.tenants import Tenant

CROWD = size("large", "sub-accounts")
NEIGHBOURS = CROWD // 20
PAGES = CROWD // 25
NUMBERED_13 = [number for number in range(1, CROWD + 1) if str(number).startswith("13")]

pytestmark = [pytest.mark.slow, pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture(scope="module")
def crowded(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Tenant]:
    """An agency with very many sub-accounts beside a smaller one, for all of this module's tests."""
    with django_db_blocker.unblock(), transaction.atomic():
        tenant = Tenant()
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 0")  # a busy machine may need more than a request's time
            many_workspaces(tenant.agency, CROWD)
            many_workspaces(Tenant().agency, NEIGHBOURS)
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else the end of each test would check them all again
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            # As autovacuum does: how much of new rows has not been sorted into the index is luck, and makes it dearer.
            cursor.execute("SELECT gin_clean_pending_list('workspace_search')")
            cursor.execute("ANALYZE subaccounts_workspace")
        yield tenant
        transaction.set_rollback(True)


def statements_of(tenant: Tenant, query: str) -> tuple[Any, list[str]]:
    """The answer, and what was asked of the database for it, the caller's key left out."""
    with CaptureQueriesContext(connection) as asked:
        answer = tenant.api.get(f"/workspaces?{query}")
    assert answer.status_code == 200
    return answer.json(), [query["sql"] for query in asked][1:]


def plan_of(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement.replace('%', '%%')}", [])
        return "\n".join(line for (line,) in cursor.fetchall())


def test_the_first_page_reads_25_entries_of_the_index(crowded: Tenant) -> None:
    answer, (page,) = statements_of(crowded, "")
    assert [answer["data"][0]["name"], answer["data"][-1]["name"]] == [f"Crowd {CROWD}", f"Crowd {CROWD - 24}"]
    assert answer["meta"]["total"] == CROWD
    assert re.search(r"Index (Only )?Scan using workspace_newest", plan_of(page))


@pytest.mark.parametrize(
    ("number", "newest"), [(PAGES // 2, CROWD // 2 + 25), (PAGES // 2 + 1, CROWD // 2), (PAGES, 25)]
)
def test_a_page_far_away_is_one_statement_on_the_index(crowded: Tenant, number: int, newest: int) -> None:
    answer, (page,) = statements_of(crowded, f"page={number}")
    assert [sub_account["name"] for sub_account in answer["data"]] == [f"Crowd {newest - place}" for place in range(25)]
    assert re.search(r"Index (Only )?Scan (Backward )?using workspace_newest", plan_of(page))
    assert "Seq Scan on subaccounts_workspace" not in plan_of(page)


def test_pages_past_the_middle_are_reached_from_the_other_end(crowded: Tenant) -> None:
    """The last page skips nothing: its statement counts from the oldest."""
    _, (page,) = statements_of(crowded, f"page={PAGES}")
    assert page.count("OFFSET 0") == 1
    assert "Backward" in plan_of(page)


@pytest.mark.parametrize(
    ("search", "total", "first"),
    [
        (f"WD%20{CROWD - 3}", 1, f"Crowd {CROWD - 3}"),
        (f"crowd%20{CROWD - 1}", 1, f"Crowd {CROWD - 1}"),
        ("crowd%2013", len(NUMBERED_13), f"Crowd {NUMBERED_13[-1]}"),
    ],
)
def test_a_search_is_a_count_and_a_page_on_the_trigram_index(
    crowded: Tenant, search: str, total: int, first: str
) -> None:
    answer, (count, page) = statements_of(crowded, f"search={search}")
    assert (answer["data"][0]["name"], answer["meta"]["total"]) == (first, total)
    for statement in (count, page):
        assert "Bitmap Index Scan on workspace_search" in plan_of(statement)


def test_a_search_that_finds_most_of_them_reads_the_newest_alone(crowded: Tenant) -> None:
    answer, (_, page) = statements_of(crowded, "search=crowd")
    assert (answer["data"][0]["name"], answer["meta"]["total"]) == (f"Crowd {CROWD}", CROWD)
    assert "Index Scan using workspace_newest" in plan_of(page)


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("external_id=crm-4711", "workspace_external_id_once_per_agency"),
        ("owner_email=nobody@example.com", "workspace_by_owner_email"),
        ("created_after=2027-01-01T00:00:00Z", "workspace_newest"),
        ("created_before=2026-01-01T00:00:00Z", "workspace_newest"),
    ],
)
def test_a_filter_that_finds_nothing_is_one_look_into_its_index(crowded: Tenant, query: str, index: str) -> None:
    answer, (count,) = statements_of(crowded, query)
    assert answer["meta"]["total"] == 0
    assert f"using {index}" in plan_of(count) or f"on {index}" in plan_of(count)


@pytest.mark.parametrize(
    "query",
    [
        "created_after=2026-01-01T00:30:00Z&created_before=2026-01-01T01:00:00Z",
        "owner_email=rare@example.com",
        "search=rare@exam",
        "search={uuid}",
    ],
)
def test_what_is_rare_is_a_count_and_a_page_without_reading_the_table(crowded: Tenant, query: str) -> None:
    rare = WorkspaceFactory.create(agency=crowded.agency, name="Rare", owner_email="rare@example.com")
    _, statements = statements_of(crowded, query.format(uuid=rare.uuid))
    assert len(statements) == 2
    for statement in statements:
        assert "Seq Scan on subaccounts_workspace" not in plan_of(statement)


@pytest.mark.parametrize("query", ["status=suspended", "business_type=salon_spa"])
def test_a_filter_is_a_count_and_at_most_a_page(crowded: Tenant, query: str) -> None:
    answer, statements = statements_of(crowded, query)
    assert (answer["meta"]["total"], len(statements)) == (0, 1)
    assert "Seq Scan on subaccounts_workspace" not in plan_of(statements[0])


def test_a_filter_that_keeps_everything_costs_one_statement_more(crowded: Tenant) -> None:
    answer, statements = statements_of(crowded, f"status=active&page={PAGES // 2}")
    middle = f"Crowd {CROWD // 2 + 25}"
    assert (answer["data"][0]["name"], answer["meta"]["total"], len(statements)) == (middle, CROWD, 2)


def test_the_neighbour_s_are_not_counted(crowded: Tenant) -> None:
    """Of theirs one has such a number, of the crowd that, and those with one more digit."""
    assert statements_of(crowded, f"search=crowd%20{NEIGHBOURS}&per_page=100")[0]["meta"]["total"] == 11

"""Finding things in the dashboard: contacts, conversations, broadcasts and pages of one workspace alone."""

from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import furnished
from tests.agency.console.browsers import text
from tests.broadcasts.under_way import a_broadcast
from tests.factories import ContactFactory, plan_limits
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import a_conversation
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
MANY = 5_000


def found(browser: Client, query: str, page: str = "find/suggestions") -> str:
    answer = browser.get(f"/app/{page}", {"q": query})
    assert answer.status_code == 200
    return text(answer)


@pytest.mark.parametrize("page", ["find", "find/suggestions"])
def test_people_find_what_is_theirs(a: Tenant, b: Tenant, page: str) -> None:
    ContactFactory.create(workspace=a.workspace, name="Ada Löwe", phone="+493055501990", email="ada@salon.example")
    conversation = a_conversation(a.channel)
    conversation.contact.name, conversation.contact.search_key = "Bruno", "bruno\n\n"
    conversation.contact.save(update_fields=["name", "search_key"])
    a_broadcast(channel=a.channel, name="Autumn sale")
    owner, other = dashboard_client(a.workspace), dashboard_client(b.workspace)
    for query, shown in (
        ("löwe", "Contacts Ada Löwe +493055501990 · ada@salon.example"),
        ("030 5550199", "Contacts Ada Löwe"),
        ("ada@sal", "Contacts Ada Löwe"),
        ("bruno", "Conversations Bruno"),
        ("MN SALE", "Broadcasts Autumn sale"),
        ("sett web", "Pages Webhooks Settings"),
    ):
        assert shown in found(owner, query, page)
    for query in ("löwe", "030 5550199", "bruno", "autumn sale"):
        assert "No matches for" in found(other, query, page)
    assert "No matches for" in found(owner, "lö", page)


def test_what_the_plan_lacks_is_not_found(a: Tenant) -> None:
    a_broadcast(channel=a.channel, name="Autumn sale")
    Workspace.objects.filter(pk=a.workspace.pk).update(limits=plan_limits(broadcasts_per_month=0))
    owner = dashboard_client(a.workspace)
    assert "No matches for" in found(owner, "autumn")
    assert "No matches for" in found(owner, "broadc")


@pytest.mark.parametrize("query", ["%%%", "a\x00b", "\\\\\\", "_" * 300, "<b>x", "0000000", "\ud83d\ud83d\ud83d"])
def test_odd_texts_find_nothing_and_break_nothing(a: Tenant, query: str) -> None:
    for page in ("find", "find/suggestions"):
        encoded = quote(query.encode("utf-8", "surrogatepass"))
        answer = dashboard_client(a.workspace).get(f"/app/{page}?q={encoded}")
        assert answer.status_code == 200
        assert b"<b>x" not in answer.content


def test_many_contacts_are_looked_up_in_an_index_by_few_statements(a: Tenant) -> None:
    Contact.objects.bulk_create(
        Contact(workspace=a.workspace, name=f"Crowd {number}", search_key=f"crowd {number}\n\n")
        for number in range(MANY)
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT gin_clean_pending_list('contact_search')")
        cursor.execute("ANALYZE contacts_contact")
    owner = dashboard_client(a.workspace)
    found(owner, "crowd")
    with CaptureQueriesContext(connection) as queries:
        assert found(owner, "crowd 4321").count("Crowd") == 1
    assert len(queries) <= 9
    searches = [one["sql"] for one in queries if "search_key" in one["sql"]]
    assert len(searches) == 2
    with connection.cursor() as cursor:
        for sql in searches:
            cursor.execute("EXPLAIN " + sql.replace("%", "%%"), [])
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert "Seq Scan on contacts_contact" not in plan
    with CaptureQueriesContext(connection) as more:
        assert "results" in owner.get("/app/find/suggestions", {"q": "crowd"}).content.decode()
    assert len(more) == len(queries)

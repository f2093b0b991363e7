"""Finding things in the console: by whatever is known of them, only one's own, and in indexes if there are many."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.agency.console.browsers import a_member, at_the_console, text
from tests.factories import ChannelFactory, WorkspaceFactory, many_workspaces
from tests.tenants import Tenant
from webhooks.services.deliveries import send_test
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import suspend_workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
MANY = 10_000
NOT_THE_SALON = ("crowd 777", "zzz", "zz")
GIN_INDEXES = ["workspace_search", "workspace_find", "channel_find"]
# As a vacuum would leave them: each with an id of its own at the agency, and a number.
KNOWN_BY_MORE = """
UPDATE subaccounts_workspace SET external_id = 'shop-' || id, phone = '+1 ' || 2000000000 + id
WHERE id % 10 = 0 AND external_id IS NULL
"""
CHANNELS = """
INSERT INTO subaccounts_channel (uuid, workspace_id, platform, external_id, name, handle, status, connected_at)
SELECT gen_random_uuid(), id, 'whatsapp', 'account-' || id, 'Number', '+3 ' || 1000000000 + id, 'active', created_at
FROM subaccounts_workspace WHERE id % 4 = 0
"""


def found(browser: Client, query: str, page: str = "find/suggestions") -> str:
    answer = browser.get(f"/console/{page}", {"q": query})
    assert answer.status_code == 200
    return text(answer)


@pytest.fixture
def salon(a: Tenant) -> Workspace:
    made: Workspace = WorkspaceFactory.create(
        agency=a.agency,
        name="Corner Salon",
        owner_name="Ada Löwe",
        owner_email="ada@salon.example",
        external_id="CRM-77/b",
    )
    Workspace.objects.filter(pk=made.pk).update(phone="+49 (30) 555-0199")
    return made


@pytest.mark.parametrize("query", ["corner sal", "LÖWE", "ada@salon", "crm-77", "030 5550199", "+49 30 555", "Salon"])
@pytest.mark.parametrize("page", ["find", "find/suggestions"])
def test_a_sub_account_is_found_by_what_is_known_of_it(
    salon: Workspace, admin: Client, b: Tenant, query: str, page: str
) -> None:
    assert "Sub-accounts Corner Salon" in found(admin, query, page)
    assert "Corner Salon" not in found(at_the_console(b.agency), query, page)


def test_a_sub_account_is_found_by_its_id_and_its_beginning(salon: Workspace, admin: Client, b: Tenant) -> None:
    for query in (str(salon.uuid), str(salon.uuid)[:8], str(salon.uuid).upper()):
        assert f'href="/console/sub-accounts/{salon.uuid}"' in admin.get("/console/find", {"q": query}).content.decode()
        assert "Corner Salon" not in found(at_the_console(b.agency), query)


def test_what_can_be_done_with_the_one_that_was_found_is_offered_as_far_as_the_person_may(
    a: Tenant, salon: Workspace, admin: Client
) -> None:
    page = admin.get("/console/find/suggestions", {"q": str(salon.uuid)}).content.decode()
    for name in ("suspend", "plan", "edit", "owner", "activity"):
        assert f'href="/console/sub-accounts/{salon.uuid}/{name}"' in page
    viewer = at_the_console(a.agency, "viewer")
    page = viewer.get("/console/find/suggestions", {"q": str(salon.uuid)}).content.decode()
    assert f"/{salon.uuid}/activity" in page
    for name in ("suspend", "plan", "edit", "owner"):
        assert f"/{salon.uuid}/{name}" not in page
    suspend_workspace(workspace=salon, now=now(), by=SYSTEM)
    assert f"/{salon.uuid}/suspend" not in admin.get("/console/find", {"q": str(salon.uuid)}).content.decode()
    WorkspaceFactory.create(agency=a.agency, name=f"{salon.name} two")
    assert f"{salon.uuid}/plan" not in admin.get("/console/find", {"q": salon.name}).content.decode()


def test_channels_are_found_by_number_and_by_the_network_s_id(salon: Workspace, admin: Client, b: Tenant) -> None:
    ChannelFactory.create(workspace=salon, handle="+44 20 7946 0018", external_id="waba-900100")
    for query in ("020 7946 0018", "442079460018", "waba-900100"):
        assert "Channels +44 20 7946 0018 WhatsApp · Corner Salon" in found(admin, query)
        assert "7946" not in found(at_the_console(b.agency), query).replace(query, "")
    salon.channels.update(status="disconnected")
    assert "Channels" not in found(admin, "442079460018")


def test_deliveries_are_found_by_their_id_and_the_envelope_s(a: Tenant, b: Tenant, admin: Client) -> None:
    delivery = send_test(endpoint=a.endpoint, event="workspace.created", now=now(), by=SYSTEM)
    for query in (delivery.uuid, delivery.envelope_id):
        page = admin.get("/console/find", {"q": str(query)}).content.decode()
        assert f'href="/console/webhooks/deliveries/{delivery.uuid}"' in page
        assert str(delivery.uuid) not in found(at_the_console(b.agency), str(query)).replace(str(query), "")


def test_what_an_agency_has_few_of_is_found_too(a: Tenant, b: Tenant, admin: Client) -> None:
    member = a_member(a.agency, "viewer")
    for query, address in (
        (a.plan.name, f"/console/plans/{a.plan.uuid}"),
        (str(a.plan.uuid), f"/console/plans/{a.plan.uuid}"),
        (a.addon.name, f"/console/add-ons/{a.addon.uuid}"),
        (a.endpoint.url, f"/console/webhooks/{a.endpoint.uuid}"),
        (member.user.email, "/console/team"),
    ):
        assert f'href="{address}"' in admin.get("/console/find/suggestions", {"q": query}).content.decode()
        theirs = at_the_console(b.agency).get("/console/find/suggestions", {"q": query}).content.decode()
        assert str(a.plan.uuid) not in theirs.replace(query, "")
        assert 'role="option"' not in theirs or query == member.user.email


def test_whoever_is_called_so_comes_first(a: Tenant, admin: Client) -> None:
    for name in ("An Ada", "Adam", "Ada"):
        WorkspaceFactory.create(agency=a.agency, name=name, owner_name="O", owner_email="o@example.com")
    assert re.search(r"Ada O · o@example.com .*Adam O .*An Ada O ", found(admin, "ada"))


def test_pages_and_actions_are_those_that_the_person_may_use(a: Tenant) -> None:
    for role, actions in (
        ("owner", {"New sub-account", "New plan", "Invite to the team"}),
        ("admin", {"New sub-account", "New plan"}),
        ("viewer", set()),
    ):
        shown = found(at_the_console(a.agency, role), "")
        offered = {name for name in ("New sub-account", "New plan", "Invite to the team") if name in shown}
        assert offered == actions
        assert "Pages" in shown
    assert "Actions New sub-account Pages Sub-accounts" in found(at_the_console(a.agency), "sub")
    assert "No matches for “xyzzy”." in found(at_the_console(a.agency), "xyzzy")


@pytest.mark.parametrize("query", ["%%%", "a\x00b", "\\", "_" * 300, "'; --", "<b>", "(((", "+", "0000000", "\ud83d"])
def test_odd_texts_find_nothing_and_break_nothing(admin: Client, query: str) -> None:
    for page in ("find", "find/suggestions"):
        answer = admin.get(f"/console/{page}?q={quote(query.encode('utf-8', 'surrogatepass'))}")
        assert answer.status_code == 200
        assert b"<b>" not in answer.content


def plans_of(queries: CaptureQueriesContext) -> dict[str, str]:
    """The plan of each statement about sub-accounts and channels."""
    plans = {}
    with connection.cursor() as cursor:
        for query in list(queries.captured_queries):
            if re.search(r'FROM "subaccounts_(workspace|channel)"', query["sql"]):
                cursor.execute("EXPLAIN " + query["sql"].replace("%", "%%"), [])
                plans[query["sql"]] = "\n".join(row[0] for row in cursor.fetchall())
    return plans


def test_ten_thousand_are_looked_up_in_indexes_by_few_statements(a: Tenant, b: Tenant, salon: Workspace) -> None:
    many_workspaces(a.agency, MANY)
    many_workspaces(b.agency, MANY // 10)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(KNOWN_BY_MORE)
        cursor.execute(CHANNELS)
        cursor.execute("SELECT gin_clean_pending_list(name) FROM unnest(%s::regclass[]) AS name", [GIN_INDEXES])
        cursor.execute("ANALYZE subaccounts_workspace, subaccounts_channel")
    console = at_the_console(a.agency)
    for query in ("crowd 777", "ada@salon", "CRM-77", "030 5550199", str(salon.uuid), "zzz", "zz", "co"):
        with CaptureQueriesContext(connection) as queries:
            shown = found(console, query)
        assert ("Corner Salon" in shown) == (query not in NOT_THE_SALON)
        assert ("Crowd" in shown) == (query == "crowd 777")
        assert len(queries) <= 20, [one["sql"][:90] for one in queries.captured_queries]
        plans = plans_of(queries)
        assert plans
        for sql, plan in plans.items():
            # Where PostgreSQL happens to know that there are two agencies, it reads the one page that has them.
            assert {*re.findall(r"Seq Scan on (\w+)", plan)} <= {"agency_agency"}, (sql, plan)


def test_a_find_page_takes_as_many_statements_however_much_is_found(
    a: Tenant, admin: Client, django_assert_num_queries: Any
) -> None:
    many_workspaces(a.agency, 3)
    admin.get("/console/find?q=crowd")
    with CaptureQueriesContext(connection) as few:
        admin.get("/console/find?q=crowd")
    many_workspaces(a.agency, 80)
    with django_assert_num_queries(len(few)):
        page = text(admin.get("/console/find?q=crowd"))
    assert page.count("· ") >= 50
    assert "There are more" in page

"""The list of sub-accounts: search, filters and pages in the address, and no counting of what is not asked for."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.agency.console.browsers import at_the_console, text
from tests.factories import ChannelFactory, PlanFactory, WorkspaceFactory, many_workspaces, plan_limits
from tests.tenants import Tenant
from webhooks.models import Endpoint
from webhooks.services.endpoints import register_endpoint
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import suspend_workspace, tenant_of
from workspaces.subaccounts.services.limit_usage import check_workspace_limits

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
LIST = "/console/sub-accounts"


def names(page: Any) -> list[str]:
    return re.findall(r'<a class="lead"[^>]*>([^<]*)</a>', page.content.decode())


def link(page: Any, name: str) -> str:
    found = re.search(rf'rel="{name}" href="([^"]+)"', page.content.decode())
    return LIST + found[1].replace("&amp;", "&") if found else ""


@pytest.fixture
def four(a: Tenant) -> Tenant:
    """Four customers, the newest last."""
    plans = [None, PlanFactory.create(agency=a.agency, name="Gold"), None, None]
    kinds = ["salon_spa", "salon_spa", "other", None]
    for name, plan, kind in zip(["Belle 100%", "Nord_Café", "École", "Oak"], plans, kinds, strict=True):
        WorkspaceFactory.create(agency=a.agency, name=name, plan=plan, business_type=kind)
    suspend_workspace(workspace=a.agency.workspaces.get(name="Oak"), now=now(), by=SYSTEM)
    return a


def test_a_row_shows_name_owner_status_plan_kind_and_age(a: Tenant, admin: Client) -> None:
    WorkspaceFactory.create(
        agency=a.agency,
        name="Belle",
        owner_name="Ada",
        owner_email="ada@example.com",
        plan=PlanFactory.create(agency=a.agency, name="Gold"),
        business_type="restaurant_cafe",
    )
    assert "Belle Ada · ada@example.com Active No channel Gold Restaurant or café just now" in text(admin.get(LIST))


def test_a_row_opens_as_customer_and_offers_writers_more(four: Tenant, admin: Client, viewer: Client) -> None:
    oak, nord = four.agency.workspaces.get(name="Oak"), four.agency.workspaces.get(name="Nord_Café")
    for person, menus in ((admin, 4), (viewer, 0)):
        page = person.get(LIST).content.decode()
        assert page.count('aria-label="Actions for ') == menus
        assert f'form="open-as-customer" formaction="{LIST}/{nord.uuid}/open"' in page
        assert f'formaction="{LIST}/{oak.uuid}/open"' not in page, "nobody opens what is suspended"
        may_restore = person is admin
        assert (f'formaction="{LIST}/{oak.uuid}/restore"' in page) is may_restore
        assert f'formaction="{LIST}/{nord.uuid}/restore"' not in page
    for action in ("edit", "plan", "suspend"):
        assert f'href="{LIST}/{nord.uuid}/{action}"' in admin.get(LIST).content.decode()
        assert f'href="{LIST}/{nord.uuid}/{action}"' not in page


def test_the_newest_is_first(four: Tenant, admin: Client) -> None:
    assert names(admin.get(LIST)) == ["Oak", "École", "Nord_Café", "Belle 100%"]


FOUND: list[tuple[dict[str, str], list[str]]] = [
    ({"search": "oA"}, ["Oak"]),
    ({"search": "  oak  "}, ["Oak"]),
    ({"search": "E\u0301COLE"}, ["École"]),
    ({"search": "%"}, ["Belle 100%"]),
    ({"search": "_"}, ["Nord_Café"]),
    ({"status": "suspended"}, ["Oak"]),
    ({"status": "active"}, ["École", "Nord_Café", "Belle 100%"]),
    ({"business_type": "salon_spa"}, ["Nord_Café", "Belle 100%"]),
    ({"business_type": "salon_spa", "search": "b"}, ["Belle 100%"]),
]


def test_search_and_filters_narrow_the_list(four: Tenant, admin: Client) -> None:
    for query, found in FOUND:
        page = admin.get(LIST, query)
        assert (query, names(page)) == (query, found)
        assert f"of {len(found)}" in text(page), query


def test_the_search_finds_what_the_api_s_finds(four: Tenant, admin: Client) -> None:
    sought = WorkspaceFactory.create(agency=four.agency, name="Sought", owner_name="Zoë", owner_email="zoe@example.com")
    for words in ("ZOE\u0308", "zoe@ex", str(sought.uuid), str(sought.uuid)[:8].upper()):
        page = admin.get(LIST, {"search": words})
        over_the_api = four.api.get(f"/workspaces?search={quote(words)}").json()["data"]
        assert names(page) == [row["name"] for row in over_the_api] == ["Sought"]


def test_the_api_s_other_filters_count_in_the_address(four: Tenant, admin: Client) -> None:
    WorkspaceFactory.create(agency=four.agency, name="Sought", owner_email="zoe@example.com", external_id="crm-1")
    for name, value, found in (
        ("owner_email", "zoe@example.com", ["Sought"]),
        ("external_id", "crm-1", ["Sought"]),
        ("created_after", "2099-01-01T00:00:00Z", []),
        ("created_after", "nonsense", []),
    ):
        assert (value, names(admin.get(LIST, {name: value}))) == (value, found)


def test_the_plan_filter_offers_the_agency_s_own_plans(four: Tenant, b: Tenant, admin: Client) -> None:
    b.plan.refresh_from_db()
    gold = four.agency.plans.get(name="Gold")
    page = admin.get(LIST, {"plan": str(gold.uuid)})
    assert names(page) == ["Nord_Café"]
    assert f'<option value="{gold.uuid}" selected>Gold</option>' in page.content.decode()
    assert str(b.plan.uuid) not in page.content.decode()


MATCHES_NOTHING = [
    *({"search": words} for words in ("zzz", "\0", "x" * 2000)),
    *({"plan": plan} for plan in ("zzz", str(uuid4()))),
    {"status": "deleted"},
    {"business_type": "bank"},
]


def test_nothing_that_matches_differs_from_nothing_there(four: Tenant, b: Tenant, admin: Client) -> None:
    for query in MATCHES_NOTHING:
        page = admin.get(LIST, query)
        assert "No sub-account matches" in text(page), query
        assert (query, names(page)) == (query, [])
    none_yet = at_the_console(b.agency).get(LIST)
    assert "No sub-accounts yet" in text(none_yet)
    assert b'class="filters"' not in none_yet.content


def test_what_was_asked_for_stays_in_the_form_and_in_the_links(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 60)
    page = admin.get(LIST, {"search": "crowd", "status": "active"})
    assert 'name="search" value="crowd"' in page.content.decode()
    assert '<option value="active" selected>' in page.content.decode()
    second = admin.get(link(page, "next"))
    assert "26\u201350 of 60" in text(second)
    assert "search=crowd&status=active" in link(second, "next")
    third = admin.get(link(second, "next"))
    assert names(third)[-1] == "Crowd 1"
    assert link(third, "next") == ""
    assert names(admin.get(link(second, "prev"))) == names(page)


def test_an_odd_page_number_is_the_nearest_page(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 60)
    for number, shown in {"0": 1, "-3": 1, "two": 1, "99": 3, "9" * 40: 3, "": 1}.items():
        page = admin.get(LIST, {"page": number})
        assert f"{(shown - 1) * 25 + 1}\u2013" in text(page), number


def test_other_agencies_sub_accounts_are_not_listed(a: Tenant, b: Tenant, admin: Client) -> None:
    b.workspace.refresh_from_db()
    assert names(admin.get(LIST, {"search": b.mark})) == []
    assert names(admin.get(LIST)) == []


def test_the_agency_s_own_count_stands_at_the_top(b: Tenant) -> None:
    tenant = Tenant(max_sub_accounts=2000)
    many_workspaces(tenant.agency, 1200)
    assert "Sub-accounts 1,200 / 2,000" in text(at_the_console(tenant.agency).get(LIST))


def test_a_page_takes_few_statements_and_counts_only_behind_a_filter(a: Tenant, admin: Client) -> None:
    """They are for session, person, memberships, unread notifications, plans of the filter, rows, health, saved views.

    The count comes on top.
    """
    many_workspaces(a.agency, 1000)
    admin.get(LIST)
    queries: list[dict[str, str]] = [{}, {"page": "40"}, {"search": "9"}, {"health": "any"}]
    for query, statements in zip(queries, (8, 8, 9, 9), strict=True):
        with CaptureQueriesContext(connection) as asked:
            page = admin.get(LIST, query)
        assert (query, len(names(page))) == (query, 25)
        assert (query, len(asked)) == (query, statements)
        own = [one["sql"].lower() for one in asked if "agency_notification" not in one["sql"]]
        assert (query, len([one for one in own if "count(*)" in one])) == (query, statements - 8)


def test_a_viewer_has_no_button_to_create(viewer: Client, admin: Client) -> None:
    assert b"/console/sub-accounts/new" in admin.get(LIST).content
    assert b"/console/sub-accounts/new" not in viewer.get(LIST).content


def test_the_number_beside_the_heading_is_of_what_is_shown(four: Tenant, admin: Client) -> None:
    number = four.agency.workspaces.count()
    assert f"Sub-accounts 0 of {number} " in text(admin.get(LIST, {"search": "zzz"}))
    found = admin.get(LIST, {"search": "Nord_Café"})
    assert f"Sub-accounts {len(names(found))} of {number} " in text(found)
    assert f"Sub-accounts {number} " in text(admin.get(LIST))


def test_the_agency_s_own_id_finds_its_sub_account(a: Tenant, b: Tenant, admin: Client) -> None:
    for tenant in (a, b):
        Workspace.objects.filter(pk=tenant.workspace.pk).update(external_id="CRM-4711")
    WorkspaceFactory.create(agency=a.agency, name="Another")
    assert names(admin.get(LIST, {"search": " CRM-4711 "})) == [a.workspace.name]
    assert [one["uuid"] for one in a.api.get("/workspaces?search=CRM-4711").json()["data"]] == [str(a.workspace.uuid)]
    assert names(admin.get(LIST, {"search": "CRM-471"})) == []


def test_what_needs_attention_is_in_the_row_and_filtered_by(four: Tenant, b: Tenant, admin: Client) -> None:
    ages = {one.name: one for one in four.agency.workspaces.all()}
    fine = WorkspaceFactory.create(agency=four.agency, name="Fine", external_id="CRM-4711")
    lost = ChannelFactory.create(workspace=ages["Nord_Café"])
    Channel.objects.filter(pk=lost.pk).update(status="error")
    ChannelFactory.create(workspace=fine)
    gone = ChannelFactory.create(workspace=ages["École"])
    Channel.objects.filter(pk=gone.pk).update(status="disconnected")
    Workspace.objects.filter(pk__in=[ages["Belle 100%"].pk, b.workspace.pk]).update(owner_pending_since=now())
    plan = PlanFactory.create(agency=four.agency, limits=plan_limits(channels__sms=5))
    full = WorkspaceFactory.create(agency=four.agency, name="Full", plan=plan)
    for _ in range(4):
        ChannelFactory.create(workspace=full, platform="sms")
    check_workspace_limits(now())
    endpoint = register_endpoint(
        tenant=tenant_of(ages["Oak"]), url="https://93.184.215.14/", events=["contact.created"], by=SYSTEM
    )
    Endpoint.objects.filter(pk=endpoint.pk).update(failing_since=now())
    rows = text(admin.get(LIST))
    for name, health in {
        "Fine": "External ID: CRM-4711 Active —",
        "Full": "Active Near a limit",
        "Oak": "Suspended No channel Failing webhook",
        "École": "Active No channel None",
        "Nord_Café": "Active Disconnected channel Gold",
        "Belle 100%": "Active Owner pending No channel None",
    }.items():
        assert re.search(rf" {name} [^·]+ · \S+ {re.escape(health)}", rows), (name, rows[-900:])
    for check, found in {
        "any": ["Full", "Oak", "École", "Nord_Café", "Belle 100%"],
        "owner": ["Belle 100%"],
        "no-channel": ["Oak", "École", "Belle 100%"],
        "broken-channel": ["Nord_Café"],
        "limit": ["Full"],
        "webhook": ["Oak"],
        "sound": [],
    }.items():
        assert names(admin.get(LIST, {"health": check})) == found
    assert names(admin.get(LIST, {"health": "no-channel", "search": "oak", "sort": "name"})) == ["Oak"]
    bulk = admin.get(
        "/console/bulk-changes/new", {"action": "sub_accounts.suspend", "all": "1", "query": "health=no-channel"}
    )
    assert "Sub-accounts: 3 are selected" in text(bulk)
    Channel.objects.filter(workspace=full).update(status="disconnected")
    check_workspace_limits(now() + timedelta(hours=1))
    assert names(admin.get(LIST, {"health": "limit"})) == []

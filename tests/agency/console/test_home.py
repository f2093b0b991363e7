"""Home: true numbers, first steps until they are done, what happened last."""

import re
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import AgencyKey
from agency.pages.registry import MenuEntry, Section, console_menu, in_sections
from agency.services import invite_member
from packs.models import Pack
from tests.agency.console.browsers import a_member, at_the_console, text
from tests.factories import (
    AgencyFactory,
    ChannelFactory,
    DomainFactory,
    EndpointFactory,
    PlanFactory,
    WorkspaceFactory,
    an_agency_key,
    many_workspaces,
    plan_limits,
)
from tests.tenants import Tenant
from webhooks.models import Endpoint
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import suspend_workspace

pytestmark = pytest.mark.django_db


def test_the_figures_are_the_agency_s_own(a: Tenant, b: Tenant, admin: Client) -> None:
    b.workspace.refresh_from_db()
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    WorkspaceFactory.create(agency=a.agency)
    page = text(admin.get("/console/"))
    assert "Sub-accounts 2 New in 30 days 2 Suspended 1 Plans 1 Live API keys 1" in page


def test_before_the_first_sub_account_there_are_no_figures_and_then_the_agency_s_own_limit_is_said() -> None:
    tenant = Tenant(max_sub_accounts=1500)
    console = at_the_console(tenant.agency)
    assert "New sub-account First steps" in text(console.get("/console/"))
    tenant.workspace.refresh_from_db()
    assert "New sub-account Sub-accounts 1 of 1,500 allowed New in 30 days 1" in text(console.get("/console/"))


def test_first_steps_are_ticked_off_and_go_when_all_are_done(a: Tenant, owner: Client) -> None:
    AgencyKey.objects.all().delete()
    page = owner.get("/console/")
    assert "First steps 0 of 7 done" in text(page)
    for path in ("/console/plans/new", "/console/sub-accounts/new", "/console/configuration/api/new"):
        assert path in page.content.decode()
    a.plan.refresh_from_db()
    assert b"/console/plans/new" not in owner.get("/console/").content
    owner.post("/console/team/invite", {"name": "N", "email": "n@example.com", "role": "viewer"})
    a.workspace.refresh_from_db()
    an_agency_key(a.agency)
    DomainFactory.create(agency=a.agency)
    assert a.endpoint.agency == a.agency
    Pack.objects.create(agency=a.agency, name="Starter", position=1, status=Pack.Status.PUBLISHED)
    assert "First steps" not in text(owner.get("/console/"))


def test_a_step_that_a_role_may_not_do_has_no_button() -> None:
    agency = AgencyFactory.create()
    pages = {role: at_the_console(agency, role).get("/console/").content for role in ("owner", "admin", "viewer")}
    assert b"/console/plans/new" in pages["admin"]
    assert b"/console/plans/new" not in pages["viewer"]
    alone = AgencyFactory.create()
    assert b"/console/team/invite" in at_the_console(alone, "owner").get("/console/").content
    other = AgencyFactory.create()
    assert b"/console/team/invite" not in at_the_console(other, "admin").get("/console/").content


def test_what_needs_attention_is_said_with_the_page_where_it_is_put_right(a: Tenant, admin: Client) -> None:
    assert "Needs attention" not in text(admin.get("/console/"))
    invite_member(agency=a.agency, email="late@example.com", name="Late", role="viewer", now=now(), by=SYSTEM)
    Endpoint.objects.filter(pk=a.endpoint.pk).update(last_outcome="error")
    Channel.objects.filter(pk=a.channel.pk).update(status="error")
    shown = admin.get("/console/")
    for sentence in (
        f"The webhook to {a.endpoint.url} is failing. Webhook",
        f"{a.channel.name} of {a.workspace.name} is disconnected. Its owner has to connect it again. Sub-account",
        "Invitation pending: late@example.com Team",
    ):
        assert sentence in text(shown)
    for address in (f"/console/webhooks/{a.endpoint.uuid}", f"/console/sub-accounts/{a.workspace.uuid}"):
        assert f'href="{address}"' in shown.content.decode()


def test_limits_that_are_nearly_used_need_attention(a: Tenant) -> None:
    tenant = Tenant(max_sub_accounts=10)
    many_workspaces(tenant.agency, 8)
    console = at_the_console(tenant.agency)
    assert "sub-accounts are used" not in text(console.get("/console/"))
    plan = PlanFactory.create(agency=tenant.agency, limits=plan_limits(channels__whatsapp=5, channels__gbp=1))
    shop = WorkspaceFactory.create(agency=tenant.agency, plan=plan, name="Busy shop")
    ChannelFactory.create(workspace=shop, platform="gbp")
    for _ in range(4):
        ChannelFactory.create(workspace=shop)
    page = text(console.get("/console/"))
    assert "9 of 10 sub-accounts are used. Sub-accounts" in page
    assert "Busy shop uses" not in page
    ChannelFactory.create(workspace=shop)
    assert "Busy shop uses 5 of 5 WhatsApp channels. Plan" in text(console.get("/console/"))
    assert "Google" not in text(console.get("/console/"))


def test_another_agency_s_concerns_are_not_shown(b: Tenant, admin: Client) -> None:
    Endpoint.objects.filter(pk=b.endpoint.pk).update(last_outcome="error")
    Channel.objects.filter(pk=b.channel.pk).update(status="error")
    invite_member(agency=b.agency, email="late@example.com", name="Late", role="viewer", now=now(), by=SYSTEM)
    assert "Needs attention" not in text(admin.get("/console/"))


def test_many_concerns_of_a_kind_are_named_in_part_and_cost_the_same(
    a: Tenant, admin: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(6):
        EndpointFactory.create(agency=a.agency)
        shop = WorkspaceFactory.create(agency=a.agency)
        ChannelFactory.create(workspace=shop)
        email = f"late-{number}@example.com"
        invite_member(agency=a.agency, email=email, name="Late", role="viewer", now=now(), by=SYSTEM)
    Endpoint.objects.update(last_outcome="error")
    Channel.objects.update(status="error")
    admin.get("/console/")
    with django_assert_max_num_queries(26):
        page = text(admin.get("/console/"))
    assert (page.count(" is failing. "), page.count("is disconnected. ")) == (3, 3)
    assert "late-0@example.com, late-1@example.com, late-2@example.com …" in page


def test_home_takes_few_statements(a: Tenant, admin: Client, django_assert_max_num_queries: Any) -> None:
    a.workspace.refresh_from_db()
    for _ in range(10):
        a_member(a.agency)
    admin.get("/console/")
    with django_assert_max_num_queries(25):
        admin.get("/console/")


def test_the_menu_marks_where_one_is(admin: Client) -> None:
    page = admin.get("/console/team").content.decode()
    assert page.count('href="/console/team" aria-current="page"') == 2
    assert page.count('aria-current="page"') == 2
    assert 'href="/console/team" aria-current="page"' not in admin.get("/console/plans").content.decode()


def test_the_menu_is_in_the_language_of_who_looks(admin: Client) -> None:
    found = []
    for language in ("en", "de", "fr", "en"):
        admin.cookies["language"] = language
        found += re.findall(r'href="/console/plans">.*?</svg>(.*?)</a>', admin.get("/console/team").content.decode())[
            :1
        ]
    assert found == ["Plans", "Tarife", "Forfaits", "Plans"]


def test_an_app_adds_its_menu_entry_to_a_section_by_order() -> None:
    entry = MenuEntry(url_name="console:new", label="New", icon="addon", section=Section.CATALOGUE, order=15)
    menus = (in_sections(console_menu), in_sections([*console_menu, entry]))
    before, after = (
        [one.url_name for part in menu if part.label == "Catalogue" for one in part.entries] for menu in menus
    )
    assert before == ["console:plans", "console:addons", "console:packs"]
    assert after == ["console:plans", "console:new", "console:addons", "console:packs"]


def test_a_menu_entry_cannot_be_added_twice() -> None:
    with pytest.raises(ImproperlyConfigured, match="There are two entries of the console's menu named console:plans"):
        console_menu.add(next(entry for entry in console_menu if entry.url_name == "console:plans"))

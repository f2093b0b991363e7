"""Home: true numbers, first steps until they are done, what happened last."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import AgencyKey
from agency.pages.registry import MenuEntry, Section, console_menu, in_sections
from packs.models import Pack
from tests.agency.console.browsers import a_member, at_the_console, text
from tests.factories import AgencyFactory, WorkspaceFactory, an_agency_key
from tests.tenants import Tenant
from workspaces.subaccounts.services import suspend_workspace

pytestmark = pytest.mark.django_db


def test_the_figures_are_the_agency_s_own(a: Tenant, b: Tenant, admin: Client) -> None:
    b.workspace.refresh_from_db()
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    WorkspaceFactory.create(agency=a.agency)
    page = text(admin.get("/console/"))
    assert "Sub-accounts 2 New in 30 days 2 Suspended 1 Plans 1 Live API keys 1" in page


def test_the_agency_s_own_limit_is_said() -> None:
    tenant = Tenant(max_sub_accounts=1500)
    assert "Sub-accounts 0 of 1,500 allowed" in text(at_the_console(tenant.agency).get("/console/"))


def test_first_steps_are_ticked_off_and_go_when_all_are_done(a: Tenant, owner: Client) -> None:
    AgencyKey.objects.all().delete()
    page = owner.get("/console/")
    assert "First steps" in text(page)
    for path in ("/console/plans/new", "/console/sub-accounts/new", "/console/configuration/api/new"):
        assert path in page.content.decode()
    a.plan.refresh_from_db()
    assert b"/console/plans/new" not in owner.get("/console/").content
    owner.post("/console/team/invite", {"name": "N", "email": "n@example.com", "role": "viewer"})
    a.workspace.refresh_from_db()
    an_agency_key(a.agency)
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


def test_home_takes_few_statements(a: Tenant, admin: Client, django_assert_max_num_queries: Any) -> None:
    a.workspace.refresh_from_db()
    for _ in range(10):
        a_member(a.agency)
    admin.get("/console/")
    with django_assert_max_num_queries(13):
        admin.get("/console/")


def test_the_menu_marks_where_one_is(admin: Client) -> None:
    page = admin.get("/console/team").content.decode()
    assert page.count('href="/console/team" aria-current="page"') == 2
    assert page.count('aria-current="page"') == 2


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

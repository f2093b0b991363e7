"""Signing in to the dashboard, and going from one workspace to another."""

import re
from typing import Any

import pytest
from django.test import Client

from tests import furnished
from tests.agency.console.browsers import PASSWORD, a_browser, flashes, text
from tests.factories import ContactFactory, WorkspaceFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db


@pytest.fixture
def shops(a: Tenant, b: Tenant) -> list[Workspace]:
    """Two workspaces of one person, at two agencies."""
    return [
        WorkspaceFactory.create(agency=tenant.agency, name=name, owner_email="ada@example.com")
        for tenant, name in ((a, "Alpha"), (b, "Beta"))
    ]


@pytest.fixture
def ada(shops: list[Workspace]) -> Client:
    return dashboard_client(shops[0])


def switch(browser: Client, workspace: Workspace, **more: str) -> Any:
    return browser.post("/app/switch", {"workspace": str(workspace.uuid), **more})


def test_an_owner_signs_in_and_arrives_at_the_page_asked_for(a: Tenant) -> None:
    a.workspace.owner.set_password(PASSWORD)
    a.workspace.owner.save()
    browser = a_browser()
    asked = browser.get("/app/channels")["Location"]
    answer = browser.post(asked, {"email": a.workspace.owner.email, "password": PASSWORD, "next": "/app/channels"})
    assert answer["Location"] == "/app/channels"
    assert a.agency.name in text(browser.get("/app/channels"))


def test_the_address_without_a_slash_leads_home(a: Tenant) -> None:
    browser = dashboard_client(a.workspace)
    assert browser.get("/app")["Location"] == "/app/"
    assert browser.get("/app/").status_code == 200


def test_whoever_owns_several_workspaces_chooses_and_goes_on_to_the_page(ada: Client, shops: list[Workspace]) -> None:
    answer = ada.get("/app/channels")
    assert answer["Location"] == "/app/choose?next=%2Fapp%2Fchannels"
    choices = ada.get(answer["Location"])
    assert "Alpha" in text(choices)
    assert "Beta" in text(choices)
    assert switch(ada, shops[1], next="/app/channels")["Location"] == "/app/channels"
    page = text(ada.get("/app/channels"))
    assert shops[1].agency.name in page
    assert shops[0].agency.name not in page.replace("Switch to Alpha " + shops[0].agency.name, "")


def test_a_foreign_workspace_cannot_be_entered(ada: Client, b: Tenant) -> None:
    switch(ada, b.workspace)
    assert ada.get("/app/channels")["Location"].startswith("/app/choose")


@pytest.mark.parametrize("asked", ["https://evil.example/app/", "//evil.example/app/", "/console/", "/app//evil\\"])
def test_the_choice_leads_to_pages_of_the_dashboard_only(asked: str, ada: Client, shops: list[Workspace]) -> None:
    assert switch(ada, shops[0], next=asked)["Location"].startswith("/app/")


def press_switch(browser: Client, page: str, workspace: Workspace) -> Any:
    """Open a page, and press the switcher's button for a workspace."""
    shown = browser.get(page).content.decode()
    found = re.search(
        rf'name="workspace" value="{workspace.uuid}"><input type="hidden" name="next" value="([^"]+)"', shown
    )
    assert found
    return browser.post("/app/switch", {"workspace": str(workspace.uuid), "next": found[1]}, follow=True)


def test_a_switch_leads_to_the_same_page_or_home(ada: Client, shops: list[Workspace]) -> None:
    switch(ada, shops[0])
    rows = [ContactFactory.create(workspace=shop) for shop in shops]
    assert press_switch(ada, "/app/contacts", shops[1]).redirect_chain == [("/app/contacts", 302)]
    contact = f"/app/contacts/{rows[1].uuid}"
    away = press_switch(ada, contact, shops[0])
    assert (away.redirect_chain, away.status_code) == ([(contact, 302), ("/app/", 302)], 200)
    assert ada.get(contact).status_code == 404
    assert switch(ada, shops[1], next=contact)["Location"] == contact
    assert ada.get(contact).status_code == 200

    button = f"{contact}/remove"
    assert ada.get(button).status_code in (200, 302)
    assert switch(ada, shops[0], next=button)["Location"] == button
    assert ada.get(button, follow=True).redirect_chain[-1] == ("/app/", 302)
    assert switch(ada, shops[1], next="/app/no-such-page")["Location"] == "/app/"


def test_a_form_from_before_a_switch_changes_nothing(ada: Client, shops: list[Workspace]) -> None:
    switch(ada, shops[1])
    answer = ada.post("/app/automations/whatever/on", {"made_for": str(shops[0].uuid)}, follow=True)
    assert flashes(answer) == ["You have switched to Beta meanwhile. Nothing was changed."]


def test_a_workspace_that_changed_hands_is_left(ada: Client, shops: list[Workspace], a: Tenant) -> None:
    switch(ada, shops[0])
    Workspace.objects.filter(pk=shops[0].pk).update(owner=a.workspace.owner)
    assert "Beta" in text(ada.get("/app/channels"))


def test_whoever_owns_very_many_finds_each_of_them(a: Tenant) -> None:
    many = [
        WorkspaceFactory.create(agency=a.agency, name=f"Shop {number:02}", owner_email="ada@example.com")
        for number in range(30)
    ]
    browser = dashboard_client(many[0])
    assert "Shop 29" in text(browser.get("/app/choose?page=2"))
    switch(browser, many[29])
    assert "Shop 29" in text(browser.get("/app/channels"))

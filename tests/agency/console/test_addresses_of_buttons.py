"""Buttons: their addresses, opened as pages, lead to a page with a form; an empty list has each button once."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from agency.pages.tables import ListPage
from tests.agency.console.browsers import text
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client

pytestmark = pytest.mark.django_db

BUTTON = re.compile(r'<a class="button(?: primary)?" href="([^"]+)"')


def views_of(namespace: str) -> Iterator[tuple[URLPattern, type[Any]]]:
    _, resolver = get_resolver().namespace_dict[namespace]
    for pattern in resolver.url_patterns:
        view = getattr(pattern.callback, "view_class", None) if isinstance(pattern, URLPattern) else None
        if isinstance(pattern, URLPattern) and view:
            yield pattern, view


def buttons_of(browser: Client, address: str) -> tuple[list[str], list[str]]:
    """Return the addresses that the buttons in the page's head lead to, and those of the buttons below it."""
    page = browser.get(address).content.decode()
    head, _, below = page.partition('<div class="actions">')[2].partition("</div>")
    return BUTTON.findall(head), BUTTON.findall(below)


def test_the_address_of_a_button_leads_to_the_page_with_the_button(a: Tenant, owner: Client) -> None:
    shop, pack, hook = a.workspace.uuid, a.pack.uuid, a.endpoint.uuid
    for path, page in {
        f"/console/sub-accounts/{shop}/restore": f"/console/sub-accounts/{shop}",
        f"/console/sub-accounts/{shop}/add-ons": f"/console/sub-accounts/{shop}",
        f"/console/packs/{pack}/order": f"/console/packs/{pack}",
        f"/console/packs/{pack}/add": f"/console/packs/{pack}/library",
        "/console/packs/order": "/console/packs",
        "/console/packs/visibility": "/console/packs",
        f"/console/webhooks/{hook}/test": f"/console/webhooks/{hook}",
    }.items():
        for method in (owner.get, owner.head):
            assert method(path)["Location"] == page
        assert owner.get(page).status_code == 200
    customer, automation = dashboard_client(a.workspace), a.automation.uuid
    assert customer.get(f"/app/automations/{automation}/on")["Location"] == f"/app/automations/{automation}"
    assert customer.get("/app/switch")["Location"] == "/app/choose"


def test_every_address_of_a_button_knows_its_page() -> None:
    for namespace in ("console", "app"):
        for pattern, view in views_of(namespace):
            if not hasattr(view, "get"):
                assert view.form_page or view.nav, pattern


def test_an_empty_list_has_each_button_once(a: Tenant, owner: Client) -> None:
    offered = []
    for namespace in ("console", "app"):
        browser = owner if namespace == "console" else dashboard_client(a.workspace)
        lists = [one for one, view in views_of(namespace) if issubclass(view, ListPage) and not one.pattern.converters]
        for address in (reverse(f"{namespace}:{one.name}") for one in lists):
            head, below = buttons_of(browser, address)
            assert len({*head, *below}) == len([*head, *below]), address
            offered += below
        if namespace == "console":
            new = reverse("console:sub-account-new")
            assert buttons_of(owner, "/console/sub-accounts?search=x") == ([new], ["/console/sub-accounts"])
            assert new in offered
    customer = dashboard_client(a.workspace)
    assert buttons_of(customer, "/app/finance") == (
        ["/app/finance/taxes", "/app/finance/exports"],
        ["/app/invoices/new"],
    )
    assert buttons_of(customer, "/app/tasks?show=done") == ([], ["/app/tasks/new"])
    assert len([address for address in offered if address.endswith("/new")]) > 15, offered


def test_a_form_that_is_sent_to_a_page_without_one_gets_a_page_that_says_so(a: Tenant, owner: Client) -> None:
    answer = owner.post("/console/plans")
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert "This page cannot be opened this way" in text(answer)

"""Addresses that only take forms, opened as pages: nobody meets an empty page."""

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

from tests.agency.console.browsers import text
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client

pytestmark = pytest.mark.django_db


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
        _, resolver = get_resolver().namespace_dict[namespace]
        for pattern in resolver.url_patterns:
            view = getattr(pattern.callback, "view_class", None) if isinstance(pattern, URLPattern) else None
            if view and not hasattr(view, "get"):
                assert view.form_page or view.nav, pattern


def test_a_form_that_is_sent_to_a_page_without_one_gets_a_page_that_says_so(a: Tenant, owner: Client) -> None:
    answer = owner.post("/console/plans")
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert "This page cannot be opened this way" in text(answer)

"""The settings of a workspace, as its owner fills them in."""

import pytest
from django.test import Client

from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
PAGE = "/app/settings"


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def test_they_are_saved_and_shown_again(a: Tenant, owner: Client) -> None:
    sent = {
        "opening_hours_monday": "9-12, 14-18",
        "address": "1 High Street\r\nBerlin",
        "phone": "+49 30 1234567",
        "email": "Hello@Example.com",
        "website": "corner-salon.example",
        "review_link": "https://reviews.example/x",
        "currency": "EUR",
    }
    answer = owner.post(PAGE, sent, follow=True)
    assert flashes(answer) == ["The settings were saved."]
    a.workspace.refresh_from_db()
    assert a.workspace.opening_hours["monday"] == [["09:00", "12:00"], ["14:00", "18:00"]]
    assert a.workspace.opening_hours["tuesday"] == []
    assert (a.workspace.address, a.workspace.email) == ("1 High Street\nBerlin", "hello@example.com")
    assert (a.workspace.website, a.workspace.menu_link) == ("https://corner-salon.example", "")
    assert 'value="09:00\u201312:00 and 14:00\u201318:00"' in answer.content.decode()
    resent = {**sent, "opening_hours_monday": "09:00\u201312:00 and 14:00\u201318:00"}
    owner.post(PAGE, resent)
    a.workspace.refresh_from_db()
    assert a.workspace.opening_hours["monday"] == [["09:00", "12:00"], ["14:00", "18:00"]]


def test_a_refusal_stands_beside_its_field_and_nothing_is_saved(a: Tenant, owner: Client) -> None:
    sent = {"opening_hours_friday": "17-9", "opening_hours_monday": "always", "phone": "call", "currency": "EUR"}
    answer = owner.post(PAGE, sent)
    assert answer.status_code == 422
    shown = text(answer)
    assert "Friday: On friday an interval must end after it starts" in shown
    assert "Monday: Write hours such as 09:00-17:00" in shown
    answer = owner.post(PAGE, {"phone": "call", "currency": "EUR"})
    assert "Phone number: The phone field must be a phone number" in text(answer)
    a.workspace.refresh_from_db()
    assert (a.workspace.opening_hours, a.workspace.currency) == ({}, "USD")


def test_the_page_is_in_the_menu(owner: Client) -> None:
    assert owner.get(PAGE).content.decode().count('href="/app/settings" aria-current="page"') == 2

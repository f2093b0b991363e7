"""The settings of a workspace, as its owner fills them in."""

import re
from typing import Any

import pytest
from django.test import Client

from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client, pickers

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
PAGE = "/app/settings"


def shown_times(answer: Any, name: str) -> list[str]:
    """The times that a field shows, from and until by turns."""
    return re.findall(rf'name="{name}_\d_(?:from|until)" value="([^"]*)"', answer.content.decode())


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def test_they_are_saved_and_shown_again(a: Tenant, owner: Client) -> None:
    sent = {
        **pickers("opening_hours_monday", "14:00-00:00", "09:00-12:00:00"),
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
    assert a.workspace.opening_hours["monday"] == [["09:00", "12:00"], ["14:00", "24:00"]]
    assert a.workspace.opening_hours["tuesday"] == []
    assert (a.workspace.address, a.workspace.email) == ("1 High Street\nBerlin", "hello@example.com")
    assert (a.workspace.website, a.workspace.menu_link) == ("https://corner-salon.example", "")
    assert shown_times(answer, "opening_hours_monday") == ["09:00", "12:00", "14:00", "00:00", "", ""]
    assert shown_times(answer, "opening_hours_friday") == [""] * 6


def test_a_refusal_stands_beside_its_field_and_nothing_is_saved(a: Tenant, owner: Client) -> None:
    sent = {
        **pickers("opening_hours_friday", "17:00-09:00"),
        **pickers("opening_hours_monday", "always-17:00"),
        **pickers("opening_hours_tuesday", "09:00-"),
        **pickers("opening_hours_sunday", "09:00-12:00", "11:00-13:00"),
        "phone": "call",
        "currency": "EUR",
    }
    answer = owner.post(PAGE, sent)
    assert answer.status_code == 422
    shown = text(answer)
    assert "Friday: Each time must end after it starts." in shown
    for day in ("Monday", "Tuesday"):
        assert f"{day}: Enter both times, such as 09:00 and 17:00, or clear both." in shown
    assert "Sunday: These times must not overlap." in shown
    assert shown_times(answer, "opening_hours_monday")[:2] == ["always", "17:00"]
    answer = owner.post(PAGE, {"phone": "call", "currency": "EUR"})
    assert "Phone number: The phone field must be a phone number" in text(answer)
    a.workspace.refresh_from_db()
    assert (a.workspace.opening_hours, a.workspace.currency) == ({}, "USD")


def test_a_button_copies_monday_s_hours_to_the_other_weekdays_and_saves_nothing(a: Tenant, owner: Client) -> None:
    sent = {**pickers("opening_hours_monday", "09:00-12:00"), **pickers("opening_hours_sunday", "10:00-11:00")}
    answer = owner.post(PAGE, {**sent, "address": "1 High Street", "currency": "EUR", "same_hours": "1"})
    assert answer.status_code == 200
    for day in ("monday", "tuesday", "friday"):
        assert shown_times(answer, f"opening_hours_{day}")[:2] == ["09:00", "12:00"]
    assert shown_times(answer, "opening_hours_saturday")[:2] == ["", ""]
    assert shown_times(answer, "opening_hours_sunday")[:2] == ["10:00", "11:00"]
    assert "1 High Street" in text(answer)
    assert "Save to keep them." in text(answer)
    a.workspace.refresh_from_db()
    assert (a.workspace.opening_hours, a.workspace.address) == ({}, "")


def test_the_page_is_in_the_menu(owner: Client) -> None:
    assert owner.get(PAGE).content.decode().count('href="/app/settings" aria-current="page"') == 2

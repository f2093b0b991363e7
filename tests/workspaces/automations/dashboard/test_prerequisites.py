"""What a business has, and what that makes possible."""

import pytest

from tests import furnished
from tests.agency.console.browsers import text
from tests.factories.flows import a_link_to_book
from tests.packs.client import an_automation
from tests.workspaces.automations.ready import make_ready
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.automations.services import requirement_checks
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
PAGE = "/app/prerequisites"
BOOKING = a_link_to_book()


def test_nothing_is_met_at_first(customer: Workspace) -> None:
    shown = dashboard_client(customer).get(PAGE)
    for label in ("working hours", "a booking page", "a payment method connected", "a service or product to sell"):
        assert f"Missing: {label}" in text(shown)
    assert "Missing: at least one contact Set up" in text(shown)
    for page in ("contacts/new", "services/new", "settings", "booking-page", "payment-account"):
        assert f'<a href="/app/{page}?next=/app/prerequisites">Set up</a>' in shown.content.decode()


def test_what_an_owner_has_lets_automations_be_switched_on(customer: Workspace) -> None:
    owner, automation = dashboard_client(customer), an_automation(customer, flow=BOOKING)
    make_ready(customer, "availability", "booking_page")
    assert "Met: working hours" in text(owner.get(PAGE))
    owner.post(f"/app/automations/{automation.uuid}/on")
    automation.refresh_from_db()
    assert automation.enabled is True
    Workspace.objects.filter(pk=customer.pk).update(opening_hours={})
    assert "Missing: working hours" in text(owner.get(f"/app/automations/{automation.uuid}"))


def test_a_feature_answers_for_each_and_nobody_else_does(customer: Workspace) -> None:
    assert {check.name for check in requirement_checks} == REQUIREMENTS.keys()
    assert dashboard_client(customer).post(PAGE, {"has": ["payment"]}).status_code == 405

"""What an owner says of their business, and what that makes possible."""

import pytest

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories.flows import a_link_to_book
from tests.packs.client import an_automation
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.models import Readiness
from workspaces.automations.services import RequirementCheck, switching
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import change_workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
PAGE = "/app/prerequisites"
BOOKING = a_link_to_book()


def test_nothing_is_ticked_at_first(customer: Workspace) -> None:
    shown = dashboard_client(customer).get(PAGE)
    assert "Working hours" in text(shown)
    assert "Missing: a service or product to sell" in text(shown)
    assert "Missing: at least one contact Add one" in text(shown)
    assert '<a href="/app/contacts/new?next=/app/prerequisites">' in shown.content.decode()
    assert "checked" not in shown.content.decode()


def test_what_an_owner_has_lets_automations_be_switched_on(customer: Workspace) -> None:
    Workspace.objects.filter(pk=customer.pk).update(booking_link="https://corner-salon.example/book")
    owner, automation = dashboard_client(customer), an_automation(customer, flow=BOOKING)
    assert f'href="{PAGE}"' in owner.get(f"/app/automations/{automation.uuid}").content.decode()
    change_workspace(workspace=customer, by=SYSTEM, booking_link="https://book.example/")
    answer = owner.post(PAGE, {"has": ["availability", "booking_page"]}, follow=True)
    assert flashes(answer) == ["Saved. Automations that need nothing else can be switched on now."]
    assert answer.content.decode().count("checked") == 2
    owner.post(f"/app/automations/{automation.uuid}/on")
    automation.refresh_from_db()
    assert automation.enabled is True
    assert ActivityEntry.objects.filter(action="readiness.changed").count() == 1


def test_a_tick_that_is_taken_away_is_missed_at_once(customer: Workspace) -> None:
    owner, automation = dashboard_client(customer), an_automation(customer, flow=BOOKING)
    owner.post(PAGE, {"has": ["availability", "booking_page"]})
    owner.post(PAGE, {"has": ["booking_page"]})
    owner.post(f"/app/automations/{automation.uuid}/on")
    automation.refresh_from_db()
    assert automation.enabled is False
    assert "Missing: working hours" in text(owner.get(f"/app/automations/{automation.uuid}"))


def test_a_word_that_is_not_known_is_refused(customer: Workspace) -> None:
    answer = dashboard_client(customer).post(PAGE, {"has": ["availability", "wealth"]})
    assert answer.status_code == 422
    assert not Readiness.objects.filter(workspace=customer).exists()


def test_what_a_feature_answers_for_is_shown_and_cannot_be_ticked(
    customer: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switching.requirement_checks, "_items", {})
    switching.requirement_checks.add(RequirementCheck("contact", lambda workspace: workspace.pk == customer.pk))
    owner = dashboard_client(customer)
    assert "Met: at least one contact" in text(owner.get(PAGE))
    assert owner.post(PAGE, {"has": ["contact"]}).status_code == 422

"""Names of steps and of what is missing are said in the language of the page; the API says them in English."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils.translation import trans_real

from tests.agency.console.browsers import text
from tests.factories import ChannelFactory
from tests.factories.flows import a_flow, a_step
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.flows.copies import sanitized_copy
from workspaces.automations.flows.fields import Choice, ListOf
from workspaces.automations.flows.presentation import ITEM_LABELS, VALUE_LABELS
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.models import Automation
from workspaces.automations.services import reasons_not_ready

pytestmark = pytest.mark.django_db
GERMAN = {
    "Book an appointment": "Termin buchen",
    "Person": "Person (de)",
    "Step %(number)s: %(label)s": "Schritt %(number)s: %(label)s",
    "Fill in %(step)s (%(label)s).": "Ausfüllen: %(step)s (%(label)s).",
    "Tell the order's status": "Bestellstatus sagen",
    "Orders are not available yet": "Noch keine Bestellungen",
    "%(reason)s (%(part)s).": "%(reason)s (%(part)s).",
    "This needs %(what)s.": "Es fehlt: %(what)s.",
    "working hours": "Arbeitszeiten",
    "A message with a keyword": "Nachricht mit einem Stichwort",
}


@pytest.fixture
def _german(monkeypatch: pytest.MonkeyPatch) -> None:
    """German words of the test's own: what is shown does not depend on how far the translators are."""
    catalogue: Any = trans_real.translation("de")
    for english, german in GERMAN.items():
        monkeypatch.setitem(catalogue._catalog._catalogs[0], english, german)


@pytest.mark.usefixtures("_german")
def test_a_page_names_steps_slots_and_what_is_missing_in_its_language_and_the_api_in_english(a: Tenant) -> None:
    workspace = a.workspace
    ChannelFactory.create(workspace=workspace)
    book = a_step("book", "book_appointment", {"booked": "status"}, text="Choose.", agent="agent-17")
    flow, slots = sanitized_copy(a_flow(book, a_step("status", "order_status", text="Your order:")))
    made = an_automation(workspace, flow=flow, published=False)
    changes = {"slots": [slot.plain() for slot in slots], "requires": ["availability"]}
    Automation.objects.filter(pk=made.pk).update(**changes)
    made.refresh_from_db()
    owner = dashboard_client(workspace)
    page = text(owner.get(f"/app/automations/{made.uuid}", headers={"Accept-Language": "de"}))
    assert "1. Termin buchen" in page
    assert "Person (de) Schritt 1: Termin buchen" in page
    assert "Noch keine Bestellungen (Schritt 2: Bestellstatus sagen)." in page
    reasons = owner.get("/app/automations/ready", headers={"Accept-Language": "de"})
    assert "Ausfüllen: Schritt 1: Termin buchen (Person (de)). Es fehlt: Arbeitszeiten." in text(reasons)
    assert "Nachricht mit einem Stichwort" in page
    assert reasons_not_ready(made)[1] == "Fill in Step 1: Book an appointment (Person)."
    told = a.workspace_api.get("/automations", **{"Accept-Language": "de"}).content.decode()
    assert "A message with a keyword" in told
    assert "Nachricht" not in told


def test_choices_and_ways_out_are_said_in_the_language_of_the_page(a: Tenant) -> None:
    flow = a_flow(
        a_step(
            "ask", "ask_question", {"answered": "wait", "no_answer": "tag"}, text="When?", expects="date", save_as="d"
        ),
        a_step("wait", "wait_until", {"next": "tag"}, moment="next_opening"),
        a_step("tag", "add_tag", {}, tag="asked"),
    )
    made = an_automation(a.workspace, flow=flow)
    owner = dashboard_client(a.workspace)
    german = text(owner.get(f"/app/automations/{made.uuid}", headers={"Accept-Language": "de"}))
    english = text(owner.get(f"/app/automations/{made.uuid}", headers={"Accept-Language": "en"}))
    assert "nächste Öffnung" in german
    assert "keine Antwort" in german
    assert "no answer" not in german
    assert "next opening" in english
    assert "no answer" in english


def _values() -> Iterator[str]:
    """Give every choice and every way out that is declared."""
    fields = [field for step in STEPS.values() for field in step.fields]
    fields += [field for trigger in TRIGGERS.values() for field in trigger.fields]
    fields += [below for field in fields if isinstance(field, ListOf) for below in field.of]
    yield from (option for field in fields if isinstance(field, Choice) for option in field.options)
    for step in STEPS.values():
        yield from (port for port in step.ports if port != "next")
        if step.port_per:
            yield f"{step.port_per[0]}_1"


def test_every_choice_and_way_out_that_is_declared_has_a_label() -> None:
    values = set(_values())
    named = {value for value in values if value in VALUE_LABELS or value.removesuffix("_1") in ITEM_LABELS}
    assert values - named == {"GET", "POST", "PUT", "PATCH", "DELETE"}

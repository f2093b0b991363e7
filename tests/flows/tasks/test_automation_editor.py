"""A customer builds an automation from nothing, tries it, publishes it and takes a change back."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ViewportSize, expect

from tests import furnished
from tests.flows.tasks.conftest import SignIn
from tests.flows.tasks.keyboard import PersonAtTheKeyboard
from tests.flows.tasks.person import Person, PersonWithoutScripts
from tests.tenants import Tenant
from workspaces.automations.models import Automation

a = furnished.a_with_customer
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SERIOUS = {"serious", "critical"}
NARROW: ViewportSize = {"width": 320, "height": 640}


def fits_a_phone(person: Person, heading: str) -> None:
    person.sees_heading(heading)
    if person.has_scripts:
        assert person.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def axe_finds_nothing(person: Person) -> None:
    """Ask axe about a page as the story has made it; `tests/flows/every_page` asks it about the pages themselves."""
    if person.has_scripts:
        found = [one for one in Axe().run(person.page).response["violations"] if one["impact"] in SERIOUS]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def add(person: Person, place: str, kind: str, **texts: str) -> None:
    person.click("link", f"Add a step {place}")
    person.click("link", kind)
    for label, text in texts.items():
        person.fill(label.replace("_", " "), text)
    person.click("button", "Add the step")


def build_and_try(person: Person) -> None:
    person.begin()
    person.click("link", "New automation")
    person.fill("Name", "Prices")
    person.click("button", "Create")
    person.fill("Keywords", "price")
    fits_a_phone(person, "When: A message with a keyword")
    person.click("button", "Save")
    person.click("link", "Change Step 1: Send a text")
    person.fill("Text", "Good that you ask.")
    person.click("button", "Save")
    add(person, "after step 1", "Send buttons", Text="Which ones?", Button_text_1="Haircuts", Button_text_2="Colour")
    add(person, "at step 2 (If they choose “Haircuts”)", "Add a tag", Tag="haircut")
    fits_a_phone(person, "Steps of Prices")
    person.click("link", "Try it in a chat")
    expect(person.page.locator(".chat-log")).to_contain_text("Which ones?")
    person.click("button", "Haircuts")
    expect(person.page.locator(".chat-log")).to_contain_text("The tag “haircut” is added.")
    fits_a_phone(person, "Try Prices")
    axe_finds_nothing(person)


def publish_and_take_back(person: Person) -> None:
    person.click("link", "To the steps")
    person.click("link", "Review and publish")
    fits_a_phone(person, "Publish Prices")
    person.click("button", "Publish")
    person.sees_message("Version 1 is published.")
    person.click("link", "Edit the steps")
    person.click("link", "Remove Step 3: Add a tag")
    person.click("button", "Remove the step")
    expect(person.page.get_by_role("heading", name="Add a tag")).to_have_count(0)
    person.click("button", "Undo (Step removed)")
    expect(person.page.get_by_role("heading", name="Add a tag")).to_have_count(1)
    expect(person.page.get_by_text("This is the published version.")).to_be_visible()
    made = Automation.objects.get()
    assert made.published is not None
    assert made.published.flow == made.draft


@pytest.mark.parametrize(
    "way", [PersonAtTheKeyboard, PersonWithoutScripts], indirect=True, ids=["keyboard", "without JavaScript"]
)
def test_an_automation_is_built_tried_published_and_taken_back(person_at: SignIn, a: Tenant) -> None:
    """Publishing and taking back need no script that building does not need, so only the keyboard's person does so."""
    Automation.objects.all().delete()
    person = person_at(a.workspace.owner, home="/app/automations", menu="Dashboard")
    person.page.set_viewport_size(NARROW)
    build_and_try(person)
    if person.has_scripts:
        met = set(person.scripts)
        publish_and_take_back(person)
        assert person.scripts == met, "what has scripts of its own must also be done without them"
    draft = Automation.objects.get().draft
    assert [step["type"] for step in draft["steps"]] == ["send_text", "send_buttons", "add_tag"]

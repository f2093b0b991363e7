"""Setting an automation up on its one page: the chat as it will be, and ways to what is missing that lead back."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import ProductFactory
from tests.factories.flows import a_flow, a_step
from tests.packs.client import an_automation
from tests.workspaces.subaccounts.dashboard.clients import agency_client
from workspaces.automations.flows.copies import sanitized_copy
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
FLOW = a_flow(
    a_step("hello", "send_text", {"next": "ask"}, text="Welcome, {{contact.first_name}}! Call +49 151 1234 5678."),
    a_step(
        "ask",
        "send_buttons",
        {"button_1": "show", "other": "late"},
        text="What do you need?",
        buttons=[{"title": "Prices"}, {"title": "A visit"}],
    ),
    a_step("show", "send_product", {"next": "tag"}, which="chosen", product="p-1"),
    a_step("tag", "add_tag", {"next": "book"}, tag="asked"),
    a_step("book", "book_appointment", {}, text="Choose a time at {{workspace.website}}."),
    a_step("late", "send_text", text="Another way."),
)


@pytest.fixture
def automation(customer: Workspace) -> Automation:
    """A copy with two slots: a text that was private, and a product."""
    flow, slots = sanitized_copy(FLOW)
    made = an_automation(customer, flow=flow, published=False)
    Automation.objects.filter(pk=made.pk).update(slots=[slot.plain() for slot in slots], requires=["service"])
    made.refresh_from_db()
    assert len(made.slots) == 2
    return made


def address(automation: Automation) -> str:
    return f"/app/automations/{automation.uuid}"


def chat(answer: Any) -> list[str]:
    """The lines of the preview: who says it, and what."""
    part = re.search(r"<ol class=\"chat-log\" data-preview>(.*?)</ol>", answer.content.decode(), re.DOTALL)
    assert part
    lines = re.split(r"<li class=\"chat-", part[1])[1:]
    return [" ".join(re.sub(r"<[^>]+>", " ", line.replace('">', ": ", 1)).split()) for line in lines]


def test_the_chat_stands_beside_the_form_one_way_through_it(owner: Client, automation: Automation) -> None:
    assert chat(owner.get(address(automation))) == [
        "in: They write: hello",
        "out: They get: [still to fill in]",
        "out: They get: What do you need? Prices A visit",
        "in: They write: Prices",
        "out: They get: Show a product",
        "note: Add a tag",
        "out: They get: Choose a time at [website].",
    ]


def test_the_chat_follows_what_is_typed_and_nothing_is_saved(
    owner: Client, customer: Workspace, automation: Automation
) -> None:
    product = ProductFactory.create(workspace=customer, name="Haircut")
    typed = {"slot_1": "Hello {{contact.first_name}}, <b>welcome</b>!", "slot_2": str(product.uuid), "preview": "1"}
    answer = owner.post(address(automation), typed)
    assert answer.status_code == 200
    shown = chat(answer)
    assert "out: They get: Hello [first name], &lt;b&gt;welcome&lt;/b&gt;!" in shown
    assert "out: They get: Haircut" in shown
    assert "welcome&lt;/b&gt;!</textarea>" in answer.content.decode()
    automation.refresh_from_db()
    assert automation.draft["steps"][0]["config"]["text"] is None


def test_what_cannot_be_saved_is_still_shown_as_typed(owner: Client, automation: Automation) -> None:
    answer = owner.post(address(automation), {"slot_1": "Hello {{contact.shoe_size}}!"})
    assert answer.status_code == 422
    assert "unknown variable" in text(answer)
    assert "out: They get: Hello [shoe size]!" in chat(answer)


def test_looking_at_the_chat_as_the_agency_is_no_change(customer: Workspace, automation: Automation) -> None:
    staff = agency_client(customer)
    before = ActivityEntry.objects.count()
    assert staff.post(address(automation), {"slot_1": "Hello", "preview": "1"}).status_code == 200
    assert ActivityEntry.objects.count() == before


def test_a_flow_that_goes_round_in_circles_is_shown_once(owner: Client, customer: Workspace) -> None:
    circle = a_flow(
        a_step("one", "send_text", {"next": "pause"}, text="Again?"),
        a_step("pause", "wait", {"next": "one"}, amount=2, unit="days"),
    )
    assert chat(owner.get(address(an_automation(customer, flow=circle)))) == [
        "in: They write: hello",
        "out: They get: Again?",
        "note: Wait: 2 days",
    ]


def test_what_is_missing_is_made_on_its_page_which_leads_back(
    owner: Client, automation: Automation, customer: Workspace
) -> None:
    page = owner.get(address(automation)).content.decode()
    back = f"?next={address(automation)}"
    for path in ("/app/services/new", "/app/settings"):
        assert f'href="{path}{back}"' in page
    assert f'href="/app/products/new?next={address(automation).replace("/", "%2F")}"' in page
    form = owner.get(f"/app/services/new{back}")
    assert f'<a href="{address(automation)}">Back to your setup</a>' in form.content.decode()
    answer = owner.post(
        f"/app/services/new{back}", {"name": "Cut", "kind": "appointment", "duration_minutes": "30", "price": "20"}
    )
    assert (answer.status_code, answer.get("Location")) == (302, address(automation))
    assert "Met: a service or product to sell" in text(owner.get(address(automation)))


@pytest.mark.parametrize("asked", ["https://evil.example/app/", "//evil.example/app/", "/console/", "/account/"])
def test_only_pages_of_the_dashboard_are_led_back_to(asked: str, owner: Client) -> None:
    page = "/app/services/new"
    answer = owner.post(f"{page}?next={asked}", {"name": "Cut", "kind": "class", "duration_minutes": "30"})
    assert re.fullmatch(r"/app/services(/[0-9a-f-]+)?", answer["Location"])
    assert "Back to your setup" not in text(owner.get(f"{page}?next={asked}"))


def test_the_page_costs_the_same_however_much_there_is_to_choose(
    owner: Client, automation: Automation, customer: Workspace, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    for _ in range(5):
        ProductFactory.create(workspace=customer)
    owner.get(address(automation))
    with django_assert_max_num_queries(13):
        owner.get(address(automation))


def test_a_refusal_to_switch_on_says_what_is_missing(owner: Client, automation: Automation) -> None:
    answer = owner.post(address(automation), {"slot_1": "Hello", "then": "on"}, follow=True)
    assert flashes(answer)[0].startswith("It cannot be switched on yet: ")

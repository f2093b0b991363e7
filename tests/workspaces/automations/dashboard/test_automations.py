"""What a customer sees of their automations and does with them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from packs.services import change_pack, copy_automation, create_pack, install_pack
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import ContactFactory, ProductFactory, StaffFactory, a_workspace_key
from tests.factories.flows import a_birthday_flow, a_catch_all, a_customers_flow, a_flow, a_step
from tests.packs.client import an_automation
from tests.tenants import WORKSPACE_BASE, Api, Tenant
from tests.workspaces.automations.ready import make_ready
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.models import Automation
from workspaces.automations.services import met_requirements, publish_automation, remove_automation
from workspaces.catalogue.models import Staff
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
FILLED = {
    "slot_1": "Call us.",
    "slot_2": "6f1f6d0e-6a5a-4b46-9f3c-2f4f3f1f0a11",
    "slot_3": "6f1f6d0e-6a5a-4b46-9f3c-2f4f3f1f0a11",
    "slot_4": "https://ours.example/",
}


@pytest.fixture
def copied(a: Tenant, customer: Workspace) -> Automation:
    """A copy of another customer's automation, installed and full of slots; somebody is there to be chosen."""
    Staff.objects.filter(pk=StaffFactory.create(workspace=customer).pk).update(uuid=FILLED["slot_3"])
    source = an_automation(a.workspace, flow=a_customers_flow(), name="Booking")
    pack = create_pack(agency=a.agency, name="Pack", by=SYSTEM)
    copy_automation(pack=pack, automation=source, by=SYSTEM)
    change_pack(pack=pack, status="published", by=SYSTEM)
    return install_pack(workspace=customer, pack=pack.uuid, now=now(), by=SYSTEM).added[0]


@pytest.fixture
def birthday(a: Tenant, customer: Workspace) -> Automation:
    """A copy with slots that the product can run; it needs a contact and working hours."""
    Staff.objects.filter(pk=StaffFactory.create(workspace=customer).pk).update(uuid=FILLED["slot_3"])
    source = an_automation(a.workspace, flow=a_birthday_flow(), name="A treat")
    pack = create_pack(agency=a.agency, name="Pack", by=SYSTEM)
    copy_automation(pack=pack, automation=source, by=SYSTEM)
    change_pack(pack=pack, status="published", by=SYSTEM)
    return install_pack(workspace=customer, pack=pack.uuid, now=now(), by=SYSTEM).added[0]


def filled(customer: Workspace) -> dict[str, str]:
    """The values of the slots of `birthday`: people of the workspace are named by their e-mail address."""
    return {**FILLED, "slot_3": customer.owner.email}


def page(owner: Client, automation: Automation) -> Any:
    return owner.get(f"/app/automations/{automation.uuid}")


def save(owner: Client, automation: Automation, **values: str) -> Any:
    return owner.post(f"/app/automations/{automation.uuid}", values)


def a_reading_of(customer: Workspace, automation: Automation) -> dict[str, Any]:
    """What the workspace's API tells of an automation."""
    answer = Api(WORKSPACE_BASE, a_workspace_key(customer)[1]).get(f"/automations/{automation.uuid}")
    return dict(answer.json()["data"])


def switch(owner: Client, automation: Automation, way: str) -> Any:
    return owner.post(f"/app/automations/{automation.uuid}/{way}", follow=True)


def test_there_are_none_yet(owner: Client) -> None:
    assert "No automations yet" in text(owner.get("/app/automations"))


def test_the_list_shows_the_state_of_each(owner: Client, customer: Workspace, copied: Automation) -> None:
    an_automation(customer, name="Greeting")
    shown = text(owner.get("/app/automations"))
    assert "Greeting WhatsApp Off Ready to switch on" in shown
    assert "things to do first" in shown
    switch(owner, Automation.objects.get(name="Greeting"), "on")
    assert "Greeting WhatsApp On" in text(owner.get("/app/automations"))


def test_the_list_costs_the_same_whatever_its_length(
    owner: Client, customer: Workspace, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    an_automation(customer)
    owner.get("/app/automations")
    with CaptureQueriesContext(connection) as one:
        owner.get("/app/automations")
    for number in range(24):
        an_automation(customer, name=f"More {number}")
    with django_assert_max_num_queries(len(one)):
        owner.get("/app/automations")
    assert len(one) <= 14


def test_each_slot_is_asked_for_with_its_label_and_step(owner: Client, copied: Automation) -> None:
    shown = text(page(owner, copied))
    assert len(copied.slots) == len(FILLED)
    for slot in copied.slots:
        assert f"{slot['label']} {slot['step']}" in shown
    assert "4 are still empty" in shown


def test_prerequisites_are_shown_as_met_or_missing(owner: Client, customer: Workspace, copied: Automation) -> None:
    assert copied.requires
    make_ready(customer, "payment")
    shown = text(page(owner, copied))
    assert "Met: a WhatsApp channel that works" in shown
    assert "Met: a payment method connected" in shown
    assert "Missing: a service or product to sell" in shown
    assert "Switch on" not in shown


def test_what_it_says_is_shown_before_it_is_switched_on(owner: Client, customer: Workspace) -> None:
    made = an_automation(customer, name="Greeting")
    assert "What it does 1. Send a text Hello {{contact.first_name}}!" in text(page(owner, made))


def test_slots_are_filled_in_one_after_another(owner: Client, customer: Workspace, copied: Automation) -> None:
    answer = owner.post(f"/app/automations/{copied.uuid}", {"slot_1": "Call us."}, follow=True)
    assert flashes(answer) == ["Saved. 3 still to fill in."]
    assert "Call us." in answer.content.decode()
    answer = owner.post(f"/app/automations/{copied.uuid}", FILLED, follow=True)
    assert flashes(answer) == ["Saved. Everything is filled in."]
    copied.refresh_from_db()
    assert copied.published is not None


def test_a_value_that_does_not_fit_is_refused_beside_its_slot(owner: Client, copied: Automation) -> None:
    answer = save(owner, copied, **FILLED | {"slot_4": "not a web address"})
    assert answer.status_code == 422
    assert "must be a valid web address" in text(answer)
    assert 'value="not a web address"' in answer.content.decode()
    copied.refresh_from_db()
    assert copied.published is None


def test_control_characters_are_refused(owner: Client, copied: Automation) -> None:
    assert save(owner, copied, slot_1="Call\0us").status_code == 422


def test_a_filled_slot_can_be_emptied_again(owner: Client, copied: Automation) -> None:
    save(owner, copied, **FILLED)
    answer = owner.post(f"/app/automations/{copied.uuid}", FILLED | {"slot_1": ""}, follow=True)
    assert flashes(answer)[-1] == "Saved. 1 still to fill in."


def test_it_is_switched_on_only_when_ready_and_off_at_any_time(
    owner: Client, customer: Workspace, birthday: Automation
) -> None:
    refused = switch(owner, birthday, "on")
    assert flashes(refused)[0].startswith("It cannot be switched on yet: Fill in")
    save(owner, birthday, **filled(customer))
    assert "This needs at least one contact." in flashes(switch(owner, birthday, "on"))[-1]
    ContactFactory.create(workspace=customer)
    make_ready(customer, *birthday.requires)
    assert "Everything is there" in text(page(owner, birthday))
    assert flashes(switch(owner, birthday, "on")) == [f"{birthday.name} is on."]
    birthday.refresh_from_db()
    assert birthday.enabled
    assert flashes(switch(owner, birthday, "off")) == [f"{birthday.name} is off."]
    birthday.refresh_from_db()
    assert not birthday.enabled


def test_what_the_customer_did_is_in_the_agency_s_log(owner: Client, customer: Workspace, copied: Automation) -> None:
    save(owner, copied, **FILLED)
    entry = ActivityEntry.objects.get(action="automation.slots_filled")
    assert entry.actor_label == customer.owner.email
    assert entry.workspace_uuid == customer.uuid


def test_an_automation_that_asks_nothing_says_so(owner: Client, customer: Workspace) -> None:
    made = an_automation(customer, flow=a_catch_all(), published=False)
    assert "This automation works as it is." in text(page(owner, made))
    assert "Publish the automation first." in text(page(owner, made))
    publish_automation(automation=made, now=now(), by=SYSTEM)
    assert "Everything is there" in text(page(owner, made))


def test_channels_are_listed_with_their_state(owner: Client, a: Tenant) -> None:
    assert "WhatsApp Active" in text(owner.get("/app/channels"))
    assert "No channels yet" in text(dashboard_client(a.workspace).get("/app/channels"))


def test_hostile_names_stay_texts(owner: Client, customer: Workspace) -> None:
    made = an_automation(customer, name='</h1><script>alert("x")</script>{{7*7}}')
    for answer in (owner.get("/app/automations"), page(owner, made)):
        assert b"<script>alert" not in answer.content
        assert b"49&lt;" not in answer.content


def test_an_automation_is_removed_after_a_question(owner: Client, customer: Workspace) -> None:
    made = an_automation(customer, name="Greeting")
    asked = owner.get(f"/app/automations/{made.uuid}/remove")
    assert "Remove Greeting?" in text(asked)
    answer = owner.post(f"/app/automations/{made.uuid}/remove", follow=True)
    assert flashes(answer) == ["Greeting was removed."]
    assert not Automation.objects.filter(pk=made.pk).exists()
    assert ActivityEntry.objects.filter(action="automation.removed").count() == 1


def test_what_is_removed_between_two_looks_is_not_found(owner: Client, customer: Workspace) -> None:
    """Another tab of the owner's was quicker."""
    for ending in ("on", "off", "remove", ""):
        made = an_automation(customer, name="Greeting")
        if not ending:  # a draft, which is published when it is saved
            Automation.objects.filter(pk=made.pk).update(published=None)
        gone = False

        def let_in(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            nonlocal gone
            if "FOR NO KEY UPDATE" in sql and not gone:
                gone = True
                remove_automation(automation=made, by=SYSTEM)  # noqa: B023  # runs before the loop goes on
            return execute(sql, params, many, context)

        with connection.execute_wrapper(let_in):
            answer = owner.post(f"/app/automations/{made.uuid}/{ending}".rstrip("/"))
        assert (ending, gone, answer.status_code) == (ending, True, 404)


def test_one_click_saves_says_what_there_is_and_switches_on(
    owner: Client, customer: Workspace, birthday: Automation
) -> None:
    path = f"/app/automations/{birthday.uuid}"
    answer = owner.post(path, {**filled(customer), "then": "on"}, follow=True)
    assert flashes(answer)[0].startswith("It cannot be switched on yet: This needs")
    birthday.refresh_from_db()
    assert (birthday.enabled, birthday.published_version) == (False, 1)
    assert "Missing: at least one contact" in text(answer)
    ContactFactory.create(workspace=customer)
    make_ready(customer, *birthday.requires)
    answer = owner.post(path, {**filled(customer), "then": "on"}, follow=True)
    assert flashes(answer) == ["A treat is on."]
    assert met_requirements(customer) >= set(birthday.requires)
    birthday.refresh_from_db()
    assert (birthday.enabled, birthday.published_version) == (True, 1)


def test_what_the_product_cannot_run_yet_is_not_switched_on_however_much_is_there(
    owner: Client, customer: Workspace
) -> None:
    reasons = [
        "Orders are not available yet (Step 1: Tell the order's status).",
        "Discounts are not available yet (Step 2: Give a discount).",
    ]
    status = a_step("status", "order_status", {"found": "treat"}, text="Your order:")
    treat = a_step("treat", "give_discount", text="A treat", percent=10, valid_days=3)
    copied = an_automation(customer, flow=a_flow(status, treat), name="Booking")
    path = f"/app/automations/{copied.uuid}"
    ProductFactory.create(workspace=customer)
    answer = owner.post(path, {"then": "on"}, follow=True)
    assert flashes(answer) == [f"It cannot be switched on yet: {' '.join(reasons)}"]
    shown = text(answer)
    assert f"Cannot run yet {' '.join(reasons)}" in shown
    assert "Before it can be switched on" not in shown
    assert "Save and switch on" not in shown
    copied.refresh_from_db()
    assert (copied.enabled, copied.published_version) == (False, 1)
    assert "WhatsApp Off Cannot run yet" in text(owner.get("/app/automations"))
    assert f"1 is not ready Booking {' '.join(reasons)} Set up" in text(owner.get("/app/automations/ready"))
    assert a_reading_of(customer, copied)["missing"] == reasons

    # One that is on already, from the time before the product judged this.
    Automation.objects.filter(pk=copied.pk).update(enabled=True)
    shown = text(owner.get(path))
    assert f"It is on, but it cannot run yet {' '.join(reasons)}" in shown
    assert f"Booking is on, but cannot run yet: {reasons[0]}" in text(owner.get("/app/"))


def test_a_template_that_the_customer_still_chooses_bars_nothing(a: Tenant, owner: Client, customer: Workspace) -> None:
    flow = a_flow(a_step("remind", "send_template", purpose="reminder", template="a-template-of-theirs"))
    pack = create_pack(agency=a.agency, name="Pack", by=SYSTEM)
    copy_automation(pack=pack, automation=an_automation(a.workspace, flow=flow, name="Reminder"), by=SYSTEM)
    change_pack(pack=pack, status="published", by=SYSTEM)
    (made,) = install_pack(workspace=customer, pack=pack.uuid, now=now(), by=SYSTEM).added
    assert [slot["path"] for slot in made.slots] == ["template"]
    for shown in (text(page(owner, made)), text(owner.get(f"/app/gallery/{pack.uuid}"))):
        assert "Cannot run yet" not in shown
    assert a_reading_of(customer, made)["missing"][0] == "Fill in Step 1: Send a template (Template)."


def test_two_with_one_keyword_are_told_which_of_them_answers(owner: Client, customer: Workspace) -> None:
    first = an_automation(customer, name="Prices", flow=a_flow(keywords=["Price", "cost"]))
    exact = an_automation(customer, name="Exactly", flow=a_flow(keywords=["PRICE "], match="exact"))
    welcome = [an_automation(customer, name=name, flow=a_flow(trigger="first_message")) for name in ("One", "Two")]
    assert flashes(switch(owner, first, "on")) == ["Prices is on."]
    ahead, behind = (
        f"\u201c{name}\u201d is on and has keywords of this automation too: {word}. Where both fit, {winner} answers."
        for name, word, winner in (("Prices", "PRICE", "this automation"), ("Exactly", "Price", "\u201cExactly\u201d"))
    )
    assert ahead in text(page(owner, exact))
    assert flashes(switch(owner, exact, "on")) == [ahead, "Exactly is on."]
    assert behind in text(page(owner, first))
    assert a_reading_of(customer, first)["warnings"] == [behind]
    switch(owner, welcome[0], "on")
    told = "\u201cOne\u201d is on and starts with the same. Where both fit, \u201cOne\u201d answers."
    assert flashes(switch(owner, welcome[1], "on")) == [told, "Two is on."]
    switch(owner, exact, "off")
    assert a_reading_of(customer, first)["warnings"] == []


def test_what_is_filled_in_does_not_promise_that_it_can_be_switched_on(
    owner: Client, customer: Workspace, birthday: Automation
) -> None:
    save(owner, birthday, **filled(customer))
    shown = text(page(owner, birthday))
    assert "Before it can be switched on" in shown
    assert "All filled in" not in shown
    assert "Filled in, but it needs more" in shown
    assert "Save and switch on" not in shown
    assert '<button class="button primary">Save</button>' in page(owner, birthday).content.decode()

    ContactFactory.create(workspace=customer)
    make_ready(customer, *birthday.requires)
    assert "Save and switch on" in text(page(owner, birthday))

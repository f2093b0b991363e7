"""One trigger, one answer: of two automations that would answer the same, one is on."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from packs.services import add_library_entry, change_pack, copy_automation, create_pack, install_pack
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.factories.flows import a_flow, a_step
from tests.packs.client import an_automation
from tests.packs.small_library import extra, write_library
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.flows.flow import trigger_digest
from workspaces.automations.models import Automation
from workspaces.automations.services import (
    NotReady,
    disable_automation,
    enable_automation,
    publish_automation,
    save_draft,
)
from workspaces.automations.services.errors import FlowRefused
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _library(settings: Any, tmp_path: Any) -> None:
    settings.PACK_LIBRARY = write_library(tmp_path / "library")


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    workspace = WorkspaceFactory.create(agency=a.agency)
    ChannelFactory.create(workspace=workspace)
    Automation.objects.all().delete()
    return workspace


def install_both(a: Tenant, customer: Workspace) -> list[Automation]:
    """The same library automation, installed from two packs."""
    found = []
    for name in ("Spring", "Autumn"):
        pack = create_pack(agency=a.agency, name=name, by=SYSTEM)
        add_library_entry(pack=pack, template_id=extra(1), by=SYSTEM)
        change_pack(pack=pack, status="published", by=SYSTEM)
        found += install_pack(workspace=customer, pack=pack.uuid, now=now(), by=SYSTEM).added
    return found


def on(automation: Automation) -> Automation:
    return enable_automation(automation=automation, now=now(), by=SYSTEM)


def test_each_says_which_pack_it_came_from(a: Tenant, customer: Workspace) -> None:
    spring, autumn = install_both(a, customer)
    assert (spring.from_pack_name, autumn.from_pack_name) == ("Spring", "Autumn")
    assert spring.from_original == autumn.from_original == extra(1)
    browser = dashboard_client(customer)
    assert "Extra 1 From the pack Spring" in text(browser.get("/app/automations"))
    assert "From the pack Autumn" in text(browser.get(f"/app/automations/{autumn.uuid}"))


def test_the_second_of_one_original_is_refused_until_the_first_is_off(a: Tenant, customer: Workspace) -> None:
    spring, autumn = install_both(a, customer)
    on(spring)
    with pytest.raises(NotReady) as refusal:
        on(autumn)
    first = "\u201cExtra 1\u201d from the pack \u201cSpring\u201d"
    assert refusal.value.reasons == [f"{first} answers the same on WhatsApp and is on. Switch that one off first."]
    browser = dashboard_client(customer)
    assert refusal.value.reasons[0] in text(browser.get(f"/app/automations/{autumn.uuid}"))
    answer = browser.post(f"/app/automations/{autumn.uuid}/on", follow=True)
    assert flashes(answer) == [f"It cannot be switched on yet: {refusal.value.reasons[0]}"]
    assert "answers the same" not in text(browser.get(f"/app/automations/{spring.uuid}"))
    disable_automation(automation=spring, now=now(), by=SYSTEM)
    assert on(autumn).enabled


def test_a_copy_that_stands_in_two_packs_is_one_original_too(a: Tenant, customer: Workspace) -> None:
    source = an_automation(a.workspace, name="Greeting")
    found = []
    for name in ("Spring", "Autumn"):
        pack = create_pack(agency=a.agency, name=name, by=SYSTEM)
        copy_automation(pack=pack, automation=source, by=SYSTEM)
        change_pack(pack=pack, status="published", by=SYSTEM)
        found += install_pack(workspace=customer, pack=pack.uuid, now=now(), by=SYSTEM).added
    on(found[0])
    with pytest.raises(NotReady, match="answers the same"):
        on(found[1])


def test_of_two_that_answer_everything_on_a_channel_type_one_is_on(customer: Workspace) -> None:
    first, second = (an_automation(customer, name=name, flow=a_flow(trigger="any_message")) for name in ("One", "Two"))
    on(first)
    with pytest.raises(NotReady, match="\u201cOne\u201d answers the same on WhatsApp and is on"):
        on(second)


def test_others_with_a_trigger_alike_may_all_be_on(customer: Workspace) -> None:
    for name in ("One", "Two"):
        assert on(an_automation(customer, name=name, flow=a_flow(trigger="keyword"))).enabled


def test_so_may_two_on_different_posts_or_channel_types(customer: Workspace) -> None:
    for kind in ("facebook", "instagram"):
        ChannelFactory.create(workspace=customer, platform=kind)
    reply = a_step("reply", "reply_to_comment", text="Thank you!")
    for platform, post in (("facebook", "1"), ("facebook", "2"), ("instagram", "1")):
        flow = a_flow(reply, trigger="any_comment", post=post)
        assert on(an_automation(customer, name=f"{platform} {post}", platform=platform, flow=flow)).enabled


def test_publishing_another_trigger_cannot_get_past_the_rule(customer: Workspace) -> None:
    on(an_automation(customer, name="One", flow=a_flow(trigger="any_message")))
    second = on(an_automation(customer, name="Two"))
    save_draft(automation=second, flow=a_flow(trigger="any_message"), now=now(), by=SYSTEM)
    with pytest.raises(FlowRefused, match="Another automation that is on answers the same already"):
        publish_automation(automation=second, now=now(), by=SYSTEM)
    second.refresh_from_db()
    assert (second.published_version, second.trigger) == (1, "keyword")


def test_what_narrows_nothing_makes_no_other_trigger() -> None:
    assert trigger_digest(a_flow(trigger="any_message")["trigger"]) == trigger_digest(
        {"type": "any_message", "config": {"post": "", "match": None}}
    )
    assert trigger_digest(a_flow(trigger="keyword")["trigger"]) != trigger_digest(
        a_flow(trigger="any_message")["trigger"]
    )


@pytest.mark.parametrize("change", [{"catch_all": True}, {"from_original": "library-id"}])
def test_the_database_holds_it_by_itself(customer: Workspace, change: dict[str, Any]) -> None:
    for name in ("One", "Two"):
        an_automation(customer, name=name)
    with pytest.raises(IntegrityError), transaction.atomic():
        Automation.objects.filter(workspace=customer).update(enabled=True, **change)
    assert connection.is_usable()


@pytest.mark.django_db(transaction=True)
def test_of_two_switched_on_at_once_one_is_on_and_the_other_hears_why(settings: Any, tmp_path: Any) -> None:
    a = Tenant()
    customer = WorkspaceFactory.create(agency=a.agency)
    ChannelFactory.create(workspace=customer)
    Automation.objects.all().delete()
    both = install_both(a, customer)

    def switch(number: int) -> str:
        try:
            on(both[number])
        except NotReady as refusal:
            return refusal.reasons[0]
        return "on"

    for _ in range(5):
        answers = at_once(switch, times=2)
        assert answers.count("on") == 1
        assert sum("answers the same" in answer for answer in answers) == 1
        assert customer.automations.filter(enabled=True).count() == 1
        Automation.objects.update(enabled=False)

"""Drafts, versions, requirements, switching on and off."""

from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.factories import ChannelFactory, ContactFactory, ProductFactory, ServiceFactory, WorkspaceFactory
from tests.factories.flows import Flow, a_flow, a_link_to_book, a_step
from tests.tenants import Tenant
from tests.workspaces.automations.ready import make_ready
from workspaces.appointments.models import WorkingHours
from workspaces.appointments.services.booking_pages import change_booking_page
from workspaces.automations.models import Automation, AutomationVersion
from workspaces.automations.services import (
    FlowRefused,
    NameRequired,
    NotReady,
    RequirementCheck,
    create_automation,
    disable_automation,
    enable_automation,
    met_requirements,
    missing_requirements,
    publish_automation,
    remove_automation,
    rename_automation,
    save_draft,
    switching,
)
from workspaces.automations.services.automation_removal import delete_removed_rows
from workspaces.catalogue.models import Staff
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import change_workspace

pytestmark = pytest.mark.django_db
BOOKING = a_link_to_book()


@pytest.fixture
def workspace() -> Workspace:
    return WorkspaceFactory.create()


def begun(workspace: Workspace, flow: Flow | None = None) -> Automation:
    return create_automation(
        workspace=workspace, name=" Greeting ", platform="whatsapp", flow=flow or a_flow(), now=now(), by=SYSTEM
    )


def published(workspace: Workspace, flow: Flow | None = None) -> Automation:
    return publish_automation(automation=begun(workspace, flow), now=now(), by=SYSTEM)


def test_an_automation_begins_as_a_draft(workspace: Workspace) -> None:
    automation = begun(workspace)
    assert (automation.name, automation.published, automation.enabled, automation.trigger) == (
        "Greeting", None, False, "keyword",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["", "  ", "n" * 121, "a\0b", "a\nb", "a\ud800b"])
def test_a_name_is_needed(workspace: Workspace, name: str) -> None:
    automation = begun(workspace)
    with pytest.raises(NameRequired):
        rename_automation(automation=automation, name=name, now=now(), by=SYSTEM)
    assert rename_automation(automation=automation, name=" Other ", now=now(), by=SYSTEM).name == "Other"


def test_a_draft_may_be_unfinished_but_not_unbounded(workspace: Workspace) -> None:
    automation = begun(workspace, a_flow(a_step("x", "send_text")))
    with pytest.raises(FlowRefused):
        save_draft(automation=automation, flow=a_flow(a_step("x", "send_text", text="\0")), now=now(), by=SYSTEM)
    with pytest.raises(FlowRefused) as refused:
        publish_automation(automation=automation, now=now(), by=SYSTEM)
    assert refused.value.errors == {"flow": ["Step 1 (Send a text): text is not filled in."]}


def test_publishing_freezes_numbered_versions(workspace: Workspace) -> None:
    automation = published(workspace)
    later = save_draft(automation=automation, flow=BOOKING, now=now(), by=SYSTEM)
    assert later.published is not None
    assert later.published.flow == a_flow()
    later = publish_automation(automation=automation, now=now(), by=SYSTEM)
    numbers = AutomationVersion.objects.filter(automation=automation).order_by("number")
    assert [(version.number, version.flow) for version in numbers] == [(1, a_flow()), (2, BOOKING)]
    assert later.requires == ["availability", "booking_page"]


def test_the_database_refuses_to_change_a_version(workspace: Workspace) -> None:
    automation = published(workspace)
    with pytest.raises(IntegrityError, match="stays as it is"):
        AutomationVersion.objects.filter(automation=automation).update(flow={})


def test_the_database_refuses_the_version_of_another_automation(workspace: Workspace) -> None:
    one, other = published(workspace), published(workspace)
    Automation.objects.filter(pk=one.pk).update(published=other.published)
    with pytest.raises(IntegrityError, match="automation_runs_its_own_version"):
        connection.check_constraints()


def test_the_database_refuses_to_run_what_is_not_published(workspace: Workspace) -> None:
    with pytest.raises(IntegrityError, match="automation_runs_a_published_version"):
        Automation.objects.filter(pk=begun(workspace).pk).update(enabled=True)


def test_switching_on_shows_everything_that_is_missing(workspace: Workspace) -> None:
    with pytest.raises(NotReady) as refused:
        enable_automation(automation=begun(workspace), now=now(), by=SYSTEM)
    assert refused.value.reasons == ["Publish the automation first.", "Connect a WhatsApp channel first."]
    with pytest.raises(NotReady) as refused:
        enable_automation(automation=published(workspace, BOOKING), now=now(), by=SYSTEM)
    assert refused.value.errors == {
        "enabled": [
            "This needs working hours.",
            "This needs a booking page.",
            "Connect a WhatsApp channel first.",
            "Fill in the booking link in the settings: step 2 needs it.",
        ]
    }


def test_an_automation_is_switched_on_when_it_is_ready_and_off_again(workspace: Workspace) -> None:
    automation = published(workspace, BOOKING)
    ChannelFactory.create(workspace=workspace)
    make_ready(workspace, "availability", "booking_page")
    for _ in range(2):
        assert enable_automation(automation=automation, now=now(), by=SYSTEM).enabled is True
    change_workspace(workspace=workspace, by=SYSTEM, opening_hours={})
    automation.workspace.refresh_from_db()
    assert enable_automation(automation=automation, now=now(), by=SYSTEM).enabled is True
    for _ in range(2):
        assert disable_automation(automation=automation, now=now(), by=SYSTEM).enabled is False
    with pytest.raises(NotReady):
        enable_automation(automation=automation, now=now(), by=SYSTEM)


def test_hours_the_booking_page_and_payments_answer_for_themselves(workspace: Workspace) -> None:
    names = ["availability", "booking_page", "payment"]
    assert missing_requirements(workspace=workspace, names=names) == names
    make_ready(workspace, "payment")
    kim = Staff.objects.create(workspace=workspace, name="Kim", name_key="kim")
    hours = WorkingHours.objects.create(staff=kim, timezone="UTC", weekly={"monday": []})
    assert missing_requirements(workspace=workspace, names=names) == ["availability", "booking_page"]
    WorkingHours.objects.filter(pk=hours.pk).update(weekly={"monday": [["09:00", "17:00"]]})
    assert met_requirements(workspace) == {"payment", "availability"}
    page = change_booking_page(workspace=workspace, now=now(), by=SYSTEM, enabled=True)
    assert missing_requirements(workspace=page.workspace, names=names) == []


def test_what_is_offered_and_who_is_known_answer_for_themselves(workspace: Workspace, b: Tenant) -> None:
    names = ["service", "contact"]
    ProductFactory.create(workspace=b.workspace)
    ContactFactory.create(workspace=b.workspace)
    assert missing_requirements(workspace=workspace, names=names) == names
    ProductFactory.create(workspace=workspace, active=False)
    assert missing_requirements(workspace=workspace, names=names) == names
    ServiceFactory.create(workspace=workspace)
    assert missing_requirements(workspace=workspace, names=names) == ["contact"]
    ContactFactory.create(workspace=workspace)
    assert missing_requirements(workspace=workspace, names=names) == []


def test_a_feature_may_answer_for_a_requirement_itself(workspace: Workspace, monkeypatch: Any) -> None:
    monkeypatch.setattr(switching.requirement_checks, "_items", {})
    switching.requirement_checks.add(RequirementCheck("contact", lambda asked: asked == workspace))
    assert met_requirements(workspace) == {"contact"}
    with pytest.raises(LookupError):
        RequirementCheck("luck", lambda _: True)


def test_an_automation_is_removed_with_its_versions(workspace: Workspace) -> None:
    remove_automation(automation=published(workspace), by=SYSTEM)
    while delete_removed_rows():
        pass
    assert not AutomationVersion.objects.exists()

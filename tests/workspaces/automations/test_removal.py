"""Old runs go, and a contact's go or move along with the contact."""

from datetime import timedelta
from typing import Any, TypeVar

import pytest
from django.db import models
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.factories import ContactFactory
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.automations.runs import a_count, a_run, a_step_of, an_ended_run
from tests.workspaces.conversations.facts import person, receive, received
from workspaces.automations.models import (
    Automation,
    AutomationCount,
    AutomationRun,
    AutomationRunStep,
    ContactQueue,
    TriggerEvent,
)
from workspaces.automations.services import enable_automation
from workspaces.automations.tasks import forget_runs
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation

a, b = furnished.a_with_channel, furnished.b_with_channel
DAY = timedelta(days=1)
Row = TypeVar("Row", bound=models.Model)


@pytest.fixture
def automation(a: Tenant) -> Automation:
    assert a.channel.platform == "whatsapp"
    return enable_automation(automation=an_automation(a.workspace), now=now(), by=SYSTEM)


def an_event(contact: Contact, key: str, **changes: Any) -> TriggerEvent:
    values = {"workspace_id": contact.workspace_id, "contact_id": contact.pk, "kind": "tag_added", "source_key": key}
    return TriggerEvent.objects.create(**values, **changes)


def a_queue(contact: Contact, **changes: Any) -> ContactQueue:
    values = {"workspace_id": contact.workspace_id, "agency_id": contact.workspace.agency_id}
    return ContactQueue.objects.create(contact_id=contact.pk, **values, **changes)


def aged(row: Row, days: float, column: str) -> Row:
    """Let a row's time be so long ago."""
    type(row)._default_manager.filter(pk=row.pk).update(**{column: now() - days * DAY})
    return row


def test_old_rows_go_and_what_is_still_needed_stays(a: Tenant, automation: Automation) -> None:
    one, two, three, four = (ContactFactory.create(workspace=a.workspace) for _ in range(4))
    waiting = a_run(automation, one, channel=a.channel, started_at=now() - 300 * DAY)
    old, young = (aged(an_ended_run(automation, one, channel=a.channel), days, "ended_at") for days in (90.1, 89.9))
    for run in (waiting, old, young):
        aged(a_step_of(run, 1, "greet"), 200, "at")
    events = [an_event(one, str(number), outcome="nothing") for number in range(2)]
    for event, days in zip(events, (30.1, 29.9), strict=True):
        aged(event, days, "created_at")
    new = aged(an_event(one, "new"), 40, "created_at")
    for days in (402, 398):
        a_count(automation, 1, day=(now() - days * DAY).date())
    a_queue(one, is_due=True)
    a_queue(two, is_due=False, day_began_at=now() - 3 * DAY)
    a_queue(three, is_due=False, day_began_at=now() - DAY)
    a_queue(four, is_due=False)
    forget_runs()
    assert set(AutomationRun.objects.all()) == {waiting, young}
    assert set(AutomationRunStep.objects.values_list("run_id", flat=True)) == {waiting.pk, young.pk}
    assert set(TriggerEvent.objects.all()) == {events[1], new}
    assert AutomationCount.objects.count() == 1
    assert set(ContactQueue.objects.values_list("pk", flat=True)) == {one.pk, three.pk}


def test_a_removed_contact_leaves_nothing(a: Tenant, automation: Automation) -> None:
    gone, other = (ContactFactory.create(workspace=a.workspace) for _ in range(2))
    for contact in (gone, other):
        a_step_of(a_run(automation, contact, channel=a.channel), 1, "greet")
        an_event(contact, f"new {contact.pk}")
        an_event(contact, f"handled {contact.pk}", outcome="nothing")
        a_queue(contact)
    assert a.workspace_api.delete(f"/contacts/{gone.uuid}").status_code == 200
    assert AutomationRun.objects.get().contact_id == other.pk
    assert AutomationRunStep.objects.get().run.contact_id == other.pk
    assert set(TriggerEvent.objects.values_list("contact_id", flat=True)) == {other.pk}
    assert ContactQueue.objects.get().contact_id == other.pk


def test_the_runs_of_a_merged_contact_move_and_the_kept_contact_s_go_on(a: Tenant, automation: Automation) -> None:
    others = [an_automation(a.workspace, name=f"No. {number}") for number in range(3)]
    receive(*(received(a.channel, person=person(number)) for number in (1, 2)))
    theirs, own = Conversation.objects.filter(channel=a.channel).order_by("-pk")
    kept, gone = own.contact, theirs.contact
    mine = a_run(automation, kept, conversation_id=own.pk, wait_kind="reply", entry_key="once", channel=a.channel)
    same = a_run(automation, gone, conversation_id=theirs.pk, entry_key="once", channel=a.channel)
    asked = a_run(others[0], gone, conversation_id=theirs.pk, wait_kind="reply", channel=a.channel)
    timed = a_run(others[1], gone, conversation_id=theirs.pk, channel=a.channel)
    ended = an_ended_run(others[2], gone, conversation_id=theirs.pk, channel=a.channel)
    event = an_event(gone, "new", channel_id=a.channel.pk, conversation_id=theirs.pk)
    answer = a.workspace_api.post(f"/contacts/{kept.uuid}/merge", {"contact": str(gone.uuid)})
    assert answer.status_code == 200, answer.content
    found = {one.pk: one for one in AutomationRun.objects.all()}
    assert {pk: one.status for pk, one in found.items()} == {
        mine.pk: "waiting", same.pk: "stopped", asked.pk: "stopped", timed.pk: "waiting", ended.pk: "completed",
    }  # fmt: skip
    assert {(one.contact_id, one.conversation_id) for one in found.values()} == {(kept.pk, own.pk)}
    assert (found[mine.pk].entry_key, found[same.pk].entry_key) == ("once", "")
    assert found[same.pk].error_message == "contact_merged"
    event.refresh_from_db()
    assert (event.contact_id, event.conversation_id) == (kept.pk, own.pk)
    assert ContactQueue.objects.values_list("contact_id", "is_due").get() == (kept.pk, True)

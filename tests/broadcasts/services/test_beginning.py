"""Broadcasts begin when they are due, wait for what they need, and end when nothing of them is left."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Event
from agency.services import suspend_agency
from agency.tasks import tell_people
from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.services import moving
from broadcasts.services.moving import approve_broadcast, resume_broadcast
from broadcasts.services.preparation import prepare_chunk
from broadcasts.services.progress import PreparationLoop, begin_due_broadcasts
from channelconnect.models import MessageTemplate
from tests import furnished
from tests.agency.console.browsers import at_the_console, text
from tests.broadcasts.services.making import (
    a_contact,
    a_segment,
    begun,
    check_counts,
    filled,
    many_contacts,
    recipients,
    scheduled,
    templated,
    work,
)
from tests.tenants import Tenant
from webhooks.services.endpoints import register_endpoint
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import restore_workspace, suspend_workspace, tenant_of

a, b = furnished.a_with_channel, furnished.b_with_channel

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def message(a: Tenant) -> dict[str, Any]:
    return templated(a)


def listen(a: Tenant, *topics: str) -> None:
    register_endpoint(tenant=tenant_of(a.workspace), url="https://93.184.215.14/hooks", events=topics, by=SYSTEM)


def status_of(broadcast: Broadcast) -> str:
    broadcast.refresh_from_db()
    return broadcast.status


def test_one_that_is_due_begins_once_and_says_so(a: Tenant, message: dict[str, Any]) -> None:
    listen(a, "broadcast.started")
    due = scheduled(a, message=message)
    later = scheduled(a, message=message, due_at=now() + timedelta(minutes=1))
    draft = scheduled(a, message=message, status="Draft", due_at=None)
    a_contact(a, "+491511")
    for _ in range(2):
        work()
    assert [status_of(one) for one in (due, later, draft)] == ["sending", "Scheduled", "Draft"]
    assert Event.objects.filter(name="broadcast.started").count() == 1
    assert ActivityEntry.objects.filter(action="broadcast.started").count() == 1
    assert len(recipients(due)) == 1
    check_counts(due)


def test_nothing_is_sent_before_it_is_approved(a: Tenant, message: dict[str, Any]) -> None:
    broadcast = scheduled(a, message=message, requires_approval=True)
    work()
    assert status_of(broadcast) == "Scheduled"
    approve_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    begin_due_broadcasts(now=now())
    assert status_of(broadcast) == "sending"


def test_those_that_wait_keep_no_newer_one_from_its_end(
    a: Tenant, message: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    a_contact(a, "+491511")
    waiting = scheduled(a, message=message)
    work()
    through = scheduled(a, message=message)
    work()
    Recipient.objects.of(through).update(stage=Stage.DONE, status="sent")
    monkeypatch.setattr(moving, "MOST_BROADCASTS", 1)
    current = PreparationLoop()
    for _ in range(3):
        current.look()
    assert [status_of(one) for one in (waiting, through)] == ["sending", "sent"]


def test_a_suspended_workspace_or_agency_waits(a: Tenant, message: dict[str, Any]) -> None:
    a_contact(a, "+491511")
    broadcast = scheduled(a, message=message)
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    work()
    assert status_of(broadcast) == "Scheduled"
    restore_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    suspend_agency(agency=a.workspace.agency, reason="", now=now(), by=SYSTEM)
    work()
    assert status_of(broadcast) == "Scheduled"


def test_one_whose_channel_is_not_connected_pauses_with_the_reason_and_keeps_its_audience(
    a: Tenant, message: dict[str, Any]
) -> None:
    a_contact(a, "+491511")
    broadcast = scheduled(a, message=message)
    listen(a, "broadcast.started", "broadcast.paused")
    Channel.objects.filter(pk=a.channel.pk).update(status="error")
    work()
    assert status_of(broadcast) == "paused"
    assert "not connected" in str(broadcast.paused_reason)
    told = Event.objects.filter(name__startswith="broadcast.").order_by("id")
    assert list(told.values_list("name", flat=True)) == ["broadcast.started", "broadcast.paused"]
    a_contact(a, "+491512")
    Channel.objects.filter(pk=a.channel.pk).update(status="active")
    resume_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    work()
    assert (status_of(broadcast), len(recipients(broadcast))) == ("sending", 1)


def test_people_are_notified_of_one_that_is_paused_as_it_begins(a: Tenant, message: dict[str, Any]) -> None:
    browser = at_the_console(a.agency, "owner")
    broadcast = scheduled(a, message=message)
    MessageTemplate.objects.update(status="paused")
    for number in (1, 2):
        work()
        assert status_of(broadcast) == "paused"
        tell_people()
        said = f"The broadcast {broadcast.name} of {a.workspace.name} was paused: {broadcast.paused_reason}"
        assert text(browser.get("/console/notifications")).count(said) == number
        resume_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)


def test_one_whose_template_is_not_approved_any_more_can_be_resumed_when_it_is(
    a: Tenant, message: dict[str, Any]
) -> None:
    a_contact(a, "+491511")
    broadcast = scheduled(a, message=message)
    MessageTemplate.objects.update(status="paused")
    work()
    assert status_of(broadcast) == "paused"
    assert broadcast.paused_reason == "The template offer is paused and cannot be sent."
    resume_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    work()
    assert (status_of(broadcast), recipients(broadcast)) == ("paused", {})
    MessageTemplate.objects.update(status="approved")
    resume_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    work()
    assert (status_of(broadcast), len(recipients(broadcast))) == ("sending", 1)
    check_counts(broadcast)


def test_one_whose_segment_was_removed_goes_to_nobody(a: Tenant, message: dict[str, Any]) -> None:
    a_contact(a, "+491511")
    segment = a_segment(a)
    named = {"type": "segment", "segment": str(segment.uuid)}
    broadcast = scheduled(a, message=message, segment=segment, audience=named)
    segment.delete()
    work()
    assert (status_of(broadcast), recipients(broadcast)) == ("paused", {})
    assert "segment" in str(broadcast.paused_reason)


def test_links_are_tracked_unless_it_was_said_otherwise(a: Tenant, message: dict[str, Any]) -> None:
    message |= filled("See https://example.com/a?b={{contact.phone}} for more")
    tracked = begun(a, message=message)
    plain = begun(a, message=message | {"track_clicks": False})
    assert tracked.frozen is not None
    assert plain.frozen is not None
    assert tracked.frozen["links"] == ["https://example.com/a?b={{contact.phone}}"]
    assert tracked.frozen["variables"] == plain.frozen["variables"] == ["contact.phone"]
    assert plain.frozen["links"] == []


@pytest.mark.parametrize("stage", [Stage.READY, Stage.CLAIMED, Stage.UNKNOWN, Stage.HELD])
def test_a_broadcast_is_completed_when_nothing_of_it_is_left(a: Tenant, message: dict[str, Any], stage: Stage) -> None:
    listen(a, "broadcast.completed")
    many_contacts(a, 2)
    broadcast = begun(a, message=message)
    first, second = recipients(broadcast)
    rows = Recipient.objects.of(broadcast)
    rows.filter(contact_id=first).update(stage=Stage.DONE, status="failed", failed_at=now())
    rows.filter(contact_id=second).update(stage=stage)
    work()
    assert status_of(broadcast) == "sending"
    rows.update(stage=Stage.DONE, status="sent")
    for _ in range(2):
        work()
    assert status_of(broadcast) == "sent"
    assert broadcast.completed_at is not None
    assert Event.objects.filter(name="broadcast.completed").count() == 1


def test_one_that_is_not_prepared_to_its_end_is_not_completed(a: Tenant, message: dict[str, Any]) -> None:
    many_contacts(a, 3)
    broadcast = scheduled(a, message=message)
    begin_due_broadcasts(now=now())
    prepare_chunk(broadcast.pk, now=now(), size=1)
    Recipient.objects.of(broadcast).update(stage=Stage.DONE, status="sent")
    current = PreparationLoop(chunk=1)
    current.look()
    assert status_of(broadcast) == "sending"


def test_one_that_goes_to_nobody_is_completed_at_once(a: Tenant, message: dict[str, Any]) -> None:
    broadcast = begun(a, message=message)
    work()
    assert (status_of(broadcast), broadcast.recipients_count) == ("sent", 0)


def test_a_large_broadcast_delays_no_small_one(a: Tenant, b: Tenant, message: dict[str, Any]) -> None:
    """Agencies, workspaces and broadcasts take turns, chunk by chunk."""
    many_contacts(a, 40)
    many_contacts(b, 1, since=100)
    templated(b)
    large = [scheduled(a, message=message) for _ in range(5)]
    small = scheduled(b, message=message)
    current = PreparationLoop(chunk=2)
    for _ in range(2):
        current.go_on()
    small.refresh_from_db()
    assert small.is_prepared
    assert sum(len(recipients(one)) for one in large) == 2


@pytest.mark.django_db(transaction=True)
def test_two_that_prepare_at_once_double_nothing(a: Tenant, message: dict[str, Any]) -> None:
    many_contacts(a, 60)
    broadcast = scheduled(a, message=message)

    def prepare() -> None:
        try:
            work(chunk=1)
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(prepare) for _ in range(3)]:
            done.result()
    work(chunk=1)
    assert len(recipients(broadcast)) == 60
    check_counts(broadcast)
    assert ActivityEntry.objects.filter(action="broadcast.started").count() == 1

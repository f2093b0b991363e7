"""Conversations that are put aside come back: at their time, with a message, never after they were closed."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils.timezone import now

from config.event_streams import latest_entry_id
from tests import furnished
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import a_conversation, person, receive, received, the_conversation
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import change_conversation, snooze_conversation, wake_snoozed_conversations
from workspaces.conversations.services.changing import CannotSnoozeClosed, SnoozeTimeRefused
from workspaces.conversations.services.conversations import inbox_topic
from workspaces.conversations.tasks import wake_snoozed

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def snoozed(a: Tenant) -> Conversation:
    return snooze_conversation(conversation=a_conversation(a.channel), until=now() + HOUR, now=now())


def test_a_message_brings_it_back_and_nothing_else_that_is_told_does(a: Tenant) -> None:
    held = snoozed(a)
    receive(received(a.channel, person=person(2)))
    assert Conversation.objects.get(pk=held.pk).snoozed_until == held.snoozed_until
    receive(received(a.channel, text="Are you there?"))
    assert Conversation.objects.get(pk=held.pk).snoozed_until is None


def test_its_time_brings_it_to_the_top_and_open_pages_are_told(a: Tenant, django_capture_on_commit_callbacks) -> None:  # type: ignore[no-untyped-def]
    held = snoozed(a)
    receive(received(a.channel, person=person(2)))
    assert wake_snoozed_conversations(now=now()) == 0
    before = latest_entry_id(inbox_topic(a.workspace.pk))
    with django_capture_on_commit_callbacks(execute=True):
        assert wake_snoozed_conversations(now=now() + HOUR) == 1
    newest = Conversation.objects.newest_activity_first().first()
    assert newest is not None
    assert (newest.pk, newest.snoozed_until) == (held.pk, None)
    assert latest_entry_id(inbox_topic(a.workspace.pk)) > before


def test_the_task_goes_by_the_databases_clock(a: Tenant) -> None:
    Conversation.objects.filter(pk=snoozed(a).pk).update(snoozed_until=now() - HOUR)
    wake_snoozed()
    assert the_conversation().snoozed_until is None


def test_what_is_closed_is_not_snoozed(a: Tenant) -> None:
    held = snoozed(a)
    closed = change_conversation(conversation=held, now=now(), status="closed")
    assert closed.snoozed_until is None
    with pytest.raises(CannotSnoozeClosed):
        snooze_conversation(conversation=held, until=now() + HOUR, now=now())
    with pytest.raises(IntegrityError, match="conversation_snoozed_is_open"), transaction.atomic():
        Conversation.objects.filter(pk=held.pk).update(snoozed_until=now() + HOUR)


@pytest.mark.parametrize("ahead", [-HOUR, timedelta(0), timedelta(days=400)])
def test_the_time_lies_within_the_next_year(a: Tenant, ahead: timedelta) -> None:
    held, at = a_conversation(a.channel), now()
    with pytest.raises(SnoozeTimeRefused):
        snooze_conversation(conversation=held, until=at + ahead, now=at)
    assert the_conversation().snoozed_until is None

"""What the pages of the inbox are given: views with counts, a thread piece by piece, a search, and news of changes."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now
from pytest_django import DjangoCaptureOnCommitCallbacks

from agency.actors import SYSTEM
from config.event_streams import stream_key
from config.redis import client
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import moment, person, receive, received, the_conversation
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import add_note, change_conversation, snooze_conversation, threads
from workspaces.conversations.services.conversations import MOST_NAMED, inbox_topic
from workspaces.conversations.services.threads import Position, View

pytestmark = pytest.mark.django_db


def names(rows: list[Conversation]) -> list[str]:
    return [row.contact.name for row in rows]


def of_person(number: int) -> Conversation:
    return Conversation.objects.get(contact__name=f"Person {number}")


def news(a: Tenant) -> list[object]:
    """What was published of the workspace's inbox, the oldest first."""
    entries: Any = client().xrange(stream_key(inbox_topic(a.workspace.pk)))
    return [json.loads(entry[b"data"])["conversations"] for _, entry in entries]


def test_each_view_has_its_conversations_and_their_number(a: Tenant) -> None:
    owner = a.workspace.owner
    for number in (1, 2, 3, 4, 5):
        receive(received(a.channel, person=person(number)))
    change_conversation(conversation=of_person(1), now=moment(), assigned_to=owner)
    change_conversation(conversation=of_person(2), now=moment(), status="closed")
    snooze_conversation(conversation=of_person(4), until=now() + timedelta(hours=1), now=moment())
    snooze_conversation(conversation=of_person(5), until=moment(1), now=moment())
    Conversation.objects.filter(pk=of_person(5).pk).update(snoozed_until=moment(-3600))
    views = {view: names(threads.list_page(view, workspace=a.workspace, user=owner)) for view in View}
    assert views == {
        View.MINE: ["Person 1"],
        View.UNASSIGNED: ["Person 5", "Person 3"],
        View.ALL: ["Person 5", "Person 3", "Person 1"],
        View.SNOOZED: ["Person 4"],
        View.CLOSED: ["Person 2"],
    }
    counts = threads.view_counts(workspace=a.workspace, user=owner)
    assert counts == {view: len(found) for view, found in views.items()}
    assert threads.unread_count(a.workspace) == 4


def test_a_page_goes_on_behind_the_last_row(a: Tenant) -> None:
    receive(*[received(a.channel, person=person(number)) for number in range(1, 61)])
    first = threads.list_page(View.ALL, workspace=a.workspace, user=a.workspace.owner)
    after = Position(first[-1].updated_at, first[-1].pk)
    with CaptureQueriesContext(connection) as captured:
        second = threads.list_page(View.ALL, workspace=a.workspace, user=a.workspace.owner, after=after)
        assert all(row.contact.name and row.channel.name for row in second)
    assert (len(first), len(second), len(captured)) == (threads.PAGE, 10, 1)
    assert len({*names(first), *names(second)}) == 60


def test_a_thread_is_read_piece_by_piece_with_the_notes_of_its_time(a: Tenant) -> None:
    receive(*[received(a.channel, text=str(number), at=moment(number)) for number in range(70)])
    add_note(conversation=the_conversation(), text="early", now=moment(5), by=SYSTEM)
    add_note(conversation=the_conversation(), text="late", now=moment(100), by=SYSTEM)
    newest = threads.read_thread_page(the_conversation())
    assert [one.text for one in newest.messages] == [str(number) for number in range(69, 19, -1)]
    assert [one.text for one in newest.notes] == ["late"]
    oldest = threads.read_thread_page(the_conversation(), before=newest.older)
    assert [one.text for one in oldest.messages] == [str(number) for number in range(19, -1, -1)]
    assert ([one.text for one in oldest.notes], oldest.older) == (["early"], None)


def test_a_search_finds_people_and_what_was_written(a: Tenant, b: Tenant) -> None:
    receive(
        received(a.channel, text="A table at the WINDOW?"), received(a.channel, person=person(2), text="100 % sure")
    )
    receive(received(b.channel, person=person(3), text="window"))

    def found(text: str) -> list[str]:
        return names(threads.search_conversations(text, workspace=a.workspace))

    assert found("window") == ["Person 1"]
    assert found("person 2") == ["Person 2"]
    assert found("112345001") == ["Person 1"]
    assert found("100 %") == ["Person 2"]
    assert found("%") == ["Person 2"]
    assert found("nothing") == []


def test_pages_are_told_once_for_each_batch_what_has_changed(
    a: Tenant, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        receive(received(a.channel), received(a.channel))
    with django_capture_on_commit_callbacks(execute=True):
        receive(*[received(a.channel, person=person(number)) for number in range(MOST_NAMED + 1)])
    assert news(a) == [[str(of_person(1).uuid)], None]

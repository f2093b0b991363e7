"""Automations' messages: they are queued in bulk, and withdrawn while no sender has them."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from tests import furnished
from tests.channelconnect.sending.messages import many_conversations
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import receive, received, the_conversation
from workspaces.conversations.models import Conversation, Message, QueuedMessage
from workspaces.conversations.services.automated import OutgoingDraft, queue_messages, withdraw_queued_messages
from workspaces.conversations.services.content import CheckedContent
from workspaces.conversations.services.interactive import InteractiveOption, interactive_content
from workspaces.media.models import Media

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db


def drafts(conversations: Sequence[Conversation], *texts: str) -> list[OutgoingDraft]:
    """One message of each text for each conversation."""
    return [
        OutgoingDraft(
            conversation_id=one.pk,
            workspace_id=one.workspace_id,
            agency_id=one.workspace.agency_id,
            channel_id=one.channel_id,
            content=CheckedContent("text", text),
            sent_by_label="Welcome",
        )
        for text in texts
        for one in conversations
    ]


def queue(conversations: Sequence[Conversation], *texts: str) -> list[int]:
    with transaction.atomic():
        return [message for message, _ in queue_messages(drafts(conversations, *texts), now=now())]


def test_any_number_of_messages_is_queued_with_as_many_statements(a: Tenant) -> None:
    conversations = many_conversations(a.channel, 250)

    with CaptureQueriesContext(connection) as few:
        queue(conversations[:1], "One", "Two")
    with CaptureQueriesContext(connection) as many:
        keys = queue(conversations, "First", "Second")

    assert len(keys) == 500
    # A savepoint, its end, the inserts and the conversations. Few changed conversations are announced by their uuids.
    assert (len(few), len(many)) == (5, 4)
    assert keys == sorted(keys)
    assert QueuedMessage.objects.filter(pk__in=keys, is_automated=True, is_ready=True).count() == 500
    assert set(Conversation.objects.values_list("last_message_preview", flat=True)) == {"Second"}
    assert Conversation.objects.filter(last_message__in=keys[250:]).count() == 250


def test_characters_that_cannot_be_stored_are_replaced(a: Tenant) -> None:
    """A text may come from an A.I., so it may hold anything that JSON can say."""
    [key] = queue(many_conversations(a.channel, 1), 'a"\\b {c}, \x00 \ud800')
    assert Message.objects.get(pk=key).text.startswith('a"\\b {c}, ')


def test_a_file_that_was_removed_meanwhile_harms_no_other_message(a: Tenant) -> None:
    files = [
        Media.objects.create(
            workspace=a.workspace, storage_name=name, filename=name, content_type="image/png", size=1, sha256=b""
        )
        for name in ("kept.png", "gone.png")
    ]
    [draft] = drafts(many_conversations(a.channel, 1), "")
    wanted = [OutgoingDraft(**{**_values(draft), "content": CheckedContent("image", "", media=one)}) for one in files]
    kept, _ = files[0].pk, Media.objects.filter(pk=files[1].pk).delete()

    with transaction.atomic():
        keys = [key for key, _ in queue_messages(wanted, now=now())]

    assert list(Message.objects.filter(pk__in=keys).order_by("pk").values_list("media", flat=True)) == [kept, None]


def test_a_newer_message_stays_the_last_one_of_its_conversation(a: Tenant) -> None:
    [conversation] = many_conversations(a.channel, 1)
    with transaction.atomic():
        queue_messages(drafts([conversation], "Newer"), now=now())
        earlier = now().replace(year=2020)
        queue_messages(drafts([conversation], "Older"), now=earlier)

    conversation.refresh_from_db()
    assert (conversation.last_message_preview, conversation.updated_at) == ("Newer", earlier)


def test_the_api_shows_an_interactive_message_with_its_options(a: Tenant) -> None:
    receive(received(a.channel))
    content = interactive_content("whatsapp", "Tonight?", [InteractiveOption("run:0:1:button_1", "Yes")])
    [draft] = drafts([the_conversation()], "")
    with transaction.atomic():
        queue_messages([OutgoingDraft(**{**_values(draft), "content": content})], now=now())

    answer = a.workspace_api.get(f"/conversations/{the_conversation().uuid}/messages")

    shown = answer.json()["data"][0]
    assert (shown["type"], shown["text"], shown["status"]) == ("interactive", "Tonight?", "pending")
    assert shown["sent_by"] == {"kind": "automation", "label": "Welcome"}
    assert shown["details"]["interactive"]["options"] == [{"payload": "run:0:1:button_1", "title": "Yes"}]


def _values(draft: OutgoingDraft) -> dict[str, Any]:
    return {name: getattr(draft, name) for name in draft.__slots__}


def test_withdrawn_messages_fail_and_what_a_sender_holds_is_not_tried_again(a: Tenant) -> None:
    conversations = many_conversations(a.channel, 3)
    waiting, claimed, other = queue(conversations, "Hello")
    QueuedMessage.objects.filter(pk=claimed).update(is_ready=False, run=7)

    with transaction.atomic():
        assert withdraw_queued_messages(messages=[waiting, claimed], now=now()) == [waiting]

    failed = Message.objects.get(pk=waiting)
    assert (failed.status, failed.error_code) == ("failed", "automation_stopped")
    assert dict(QueuedMessage.objects.values_list("pk", "withdrawn_as")) == {claimed: "automation_stopped", other: ""}


def test_a_person_who_takes_over_withdraws_only_the_automations_messages(a: Tenant) -> None:
    receive(received(a.channel))
    conversation = the_conversation()
    [automated] = queue([conversation], "Hello")
    answer = a.workspace_api.post(f"/conversations/{conversation.uuid}/messages", {"text": "I am here."})
    assert answer.status_code == 201

    assert Message.objects.get(pk=automated).error_code == "automation_paused"
    [left] = QueuedMessage.objects.all()
    assert left.message.text == "I am here."


def test_a_pressed_button_keeps_the_payload_that_it_was_sent_with(a: Tenant) -> None:
    payload = f"run:{'0' * 32}:12:button_2"
    receive(received(a.channel, type="interactive", text="Yes", payload=payload))
    assert Message.objects.get(direction="in").details["payload"] == payload

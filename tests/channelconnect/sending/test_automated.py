"""Automations' messages: behind people's, before broadcasts', in the order of their conversation, and checked again."""

from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils.timezone import now

from channelconnect.models import SenderRun
from channelconnect.sending import claimer
from channelconnect.sending.allowance import allowance_capacities
from channelconnect.sending.conversations import AutomatedMessages, ConversationMessages
from channelconnect.sending.limits import SendingLimits
from channelconnect.services.allowance_keys import keys_of
from config.celery import wake_up
from config.db import database_now
from config.leases.connections import open_connection
from config.leases.runs import SHARDS
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.masses import Mass
from tests.channelconnect.sending.messages import (
    a_channel,
    a_conversation,
    a_message,
    ended,
    make_due,
    many_conversations,
    put_off,
    sends,
    unknown,
)
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation, Message, QueuedMessage
from workspaces.conversations.services.automated import OutgoingDraft, queue_messages, withdraw_automated_messages
from workspaces.conversations.services.content import CheckedContent
from workspaces.conversations.services.interactive import InteractiveOption, interactive_content
from workspaces.conversations.services.sending import SENDER
from workspaces.subaccounts.models import Channel

YES_NO = [InteractiveOption(f"run:0:1:button_{number}", title) for number, title in ((1, "Yes"), (2, "No"))]


def open_windows(conversations: Sequence[Conversation]) -> None:
    keys = [one.pk for one in conversations]
    Conversation.objects.filter(pk__in=keys).update(last_inbound_at=database_now())


def automated(conversations: Sequence[Conversation], *contents: CheckedContent | str) -> list[Message]:
    """Queue these messages for each conversation, as the engine does."""
    drafts = [
        OutgoingDraft(
            conversation_id=one.pk,
            workspace_id=one.workspace_id,
            agency_id=one.workspace.agency_id,
            channel_id=one.channel_id,
            content=CheckedContent("text", content) if isinstance(content, str) else content,
        )
        for content in contents
        for one in conversations
    ]
    with transaction.atomic():
        keys = [key for key, _ in queue_messages(drafts, now=now())]
    return list(Message.objects.filter(pk__in=keys).order_by("pk"))


def texts_of(meta: RunningSandbox) -> list[str]:
    return [one["body"]["text"]["body"] for one in meta.ledger()["sent"]]


@pytest.mark.usefixtures("_one_call_at_a_time")
def test_a_person_goes_first_then_an_automation_then_a_broadcast(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    conversations = many_conversations(channel, 40)
    open_windows(conversations)
    automated(conversations, "From an automation")
    a_message(a_conversation(channel), "From a person")
    mass = Mass([channel], 20)

    start_sender(sources=[mass, AutomatedMessages(), ConversationMessages()])

    until(lambda: mass.recorded == 20 and not QueuedMessage.objects.exists())
    texts = texts_of(meta)
    assert texts[0] == "From a person"
    assert texts.count("From an automation") == 40
    # A claim of automations' messages goes before the mass of the same claim.
    assert texts.index("Our news") > texts.index("From an automation")
    ends = [max(index for index, text in enumerate(texts) if text == one) for one in ("From an automation", "Our news")]
    assert ends[0] < ends[1]


def test_both_kinds_of_messages_keep_the_order_of_their_conversation(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    conversation = a_conversation(channel)
    open_windows([conversation])
    for turn in range(3):
        automated([conversation], f"{turn} automated")
        a_message(conversation, f"{turn} person")

    start_sender()

    until(lambda: not QueuedMessage.objects.exists())
    assert texts_of(meta) == [f"{turn} {kind}" for turn in range(3) for kind in ("automated", "person")]


def test_workspaces_take_turns_within_an_agency(a: Tenant, channel: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim that chooses two of three channels takes one of each workspace."""
    monkeypatch.setattr(claimer, "CHANNELS_PER_CLAIM", 2)
    second = ChannelFactory.create(workspace=a.workspace)
    other = ChannelFactory.create(workspace=WorkspaceFactory.create(agency=a.agency))
    for one in (channel, second, other):
        automated(many_conversations(one, 1), "Hello")
    ready = claimer.ReadyChannels(AutomatedMessages())
    with closing(open_connection("test")) as own:
        ready.look(own, held=range(SHARDS))
    rooms = claimer.RemainingCapacity(SendingLimits(), (), is_urgent=False)

    chosen = [path[1:] for path in ready.choose(rooms, held=range(SHARDS))]

    assert chosen == [(a.workspace.pk, channel.pk), (other.workspace_id, other.pk)]


def test_what_changed_since_it_was_queued_is_not_sent(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    opted_out, closed, never, _ = conversations = many_conversations(channel, 4)
    open_windows(conversations)
    messages = automated(conversations, "Hello")
    Contact.objects.filter(pk=opted_out.contact_id).update(opted_out_at=now(), opt_out_source="keyword")
    Conversation.objects.filter(pk=closed.pk).update(last_inbound_at=now() - timedelta(hours=25))
    Conversation.objects.filter(pk=never.pk).update(last_inbound_at=None)

    start_sender()

    assert [ended(one).error_code for one in messages] == ["contact_opted_out", "window_closed", "window_closed", None]
    assert meta.ledger()["sent_total"] == 1
    assert sends(meta, messages[3]) == 1


@pytest.mark.usefixtures("_long_waits")
def test_a_withdrawn_message_that_the_provider_did_not_take_is_not_tried_again(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    conversation = a_conversation(channel)
    open_windows([conversation])
    [message] = automated([conversation], "Hello #130429*1")
    sender = start_sender()
    put_off(message)
    QueuedMessage.objects.filter(message=message).update(run=7)
    with transaction.atomic():
        assert not withdraw_automated_messages(conversations=[conversation.pk], now=now())

    QueuedMessage.objects.filter(message=message).update(run=None)
    make_due(message)
    wake_up(SENDER)

    assert ended(message).error_code == "automation_paused"
    assert sends(meta, message) == 0
    sender.stop()


def test_what_a_dead_sender_held_is_never_sent_and_fails_as_unknown(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    conversation = a_conversation(channel)
    open_windows([conversation])
    [message] = automated([conversation], "Hello")
    long_ago = database_now() - timedelta(hours=1)
    SenderRun.objects.create(number=7, started_at=long_ago, seen_at=long_ago)
    QueuedMessage.objects.filter(message=message).update(run=7, is_ready=False)

    start_sender()

    assert unknown(message).is_automated
    make_due(message, long_ago)
    assert ended(message).error_code == "send_outcome_unknown"
    assert meta.ledger()["sent_total"] == 0


OPTIONS = [InteractiveOption(f"run:0:1:button_{number}", f"Option {number}") for number in range(1, 5)]
POSTBACKS = [{"type": "postback", "title": one.title, "payload": one.payload} for one in OPTIONS[:3]]
REPLIES = [{"content_type": "text", "title": one.title, "payload": one.payload} for one in OPTIONS]
ROWS = [{"id": one.payload, "title": one.title} for one in OPTIONS]
BUTTONS = [{"type": "reply", "reply": row} for row in ROWS[:3]]
BODY = {"body": {"text": "Which one?"}}
LINK: dict[str, Any] = {"style": "link", "button": "Look", "url": "https://example.com/"}


def a_button_template(*buttons: dict[str, str]) -> dict[str, Any]:
    payload = {"template_type": "button", "text": "Which one?", "buttons": list(buttons)}
    return {"attachment": {"type": "template", "payload": payload}}


@pytest.mark.parametrize("platform", ["facebook", "instagram"])
def test_messenger_and_instagram_get_buttons_quick_replies_and_links(
    a: Tenant, meta: RunningSandbox, start_sender: StartSender, platform: str
) -> None:
    conversation = a_conversation(a_channel(a.workspace, meta, platform=platform))
    open_windows([conversation])
    contents = [
        interactive_content(platform, "Which one?", OPTIONS[:3], style="buttons"),
        interactive_content(platform, "Which one?", OPTIONS, style="buttons"),
        interactive_content(platform, "Which one?", **LINK),
    ]
    messages = automated([conversation], *contents)

    start_sender()

    assert [ended(one).status for one in messages] == ["sent"] * 3
    sent = [one["body"]["message"] for one in meta.ledger()["sent"]]
    assert [one.pop("metadata") for one in sent] == [str(one.uuid) for one in messages]
    assert sent == [
        a_button_template(*POSTBACKS),
        {"text": "Which one?", "quick_replies": REPLIES},
        a_button_template({"type": "web_url", "title": "Look", "url": "https://example.com/"}),
    ]


def test_whatsapp_gets_buttons_a_list_and_a_link(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    conversation = a_conversation(channel)
    open_windows([conversation])
    contents = [
        interactive_content("whatsapp", "Which one?", OPTIONS[:3], style="buttons", footer="Bye"),
        interactive_content("whatsapp", "Which one?", OPTIONS, style="buttons", list_button="Choose"),
        interactive_content("whatsapp", "Which one?", **LINK),
    ]
    messages = automated([conversation], *contents)

    start_sender()

    assert [ended(one).status for one in messages] == ["sent"] * 3
    parameters = {"display_text": "Look", "url": "https://example.com/"}
    assert [one["body"]["interactive"] for one in meta.ledger()["sent"]] == [
        {"type": "button", **BODY, "action": {"buttons": BUTTONS}, "footer": {"text": "Bye"}},
        {"type": "list", **BODY, "action": {"button": "Choose", "sections": [{"rows": ROWS}]}},
        {"type": "cta_url", **BODY, "action": {"name": "cta_url", "parameters": parameters}},
    ]


@pytest.mark.parametrize(("platform", "edge"), [("facebook", "comments"), ("instagram", "replies")])
def test_a_comment_is_answered_in_private_without_a_window_and_in_public(
    a: Tenant, meta: RunningSandbox, start_sender: StartSender, platform: str, edge: str
) -> None:
    meta.play(has_windows=True)
    conversation = a_conversation(a_channel(a.workspace, meta, platform=platform))
    soon, before = (now() + timedelta(days=days) for days in (7, -1))
    private, late, public = automated(
        [conversation],
        CheckedContent("text", "Here", details={"comment_reply": {"comment": "17_1", "until": soon.isoformat()}}),
        CheckedContent("text", "Late", details={"comment_reply": {"comment": "17_2", "until": before.isoformat()}}),
        CheckedContent("text", "Look", details={"public_reply": {"comment": "17_3"}}),
    )

    start_sender()

    assert [ended(one).error_code for one in (private, late, public)] == [None, "comment_too_old", None]
    answered, published = meta.ledger()["sent"]
    assert answered["body"]["recipient"] == {"comment_id": "17_1"}
    assert answered["body"]["message"] == {"text": "Here", "metadata": str(private.uuid)}
    assert (published["to"], published["body"]) == ("17_3", {"message": "Look"})
    assert meta.ledger()["calls"][-1]["path"].endswith(f"/17_3/{edge}")
    assert public.provider_message_id == published["message_id"]


def test_a_missing_permission_for_comments_leaves_the_channel_connected(
    a: Tenant, meta: RunningSandbox, start_sender: StartSender
) -> None:
    channel = a_channel(a.workspace, meta, platform="instagram")
    meta.play(faults=[{"call": "publish", "fault": "permission_missing"}])
    until_then = (now() + timedelta(days=7)).isoformat()
    conversation = a_conversation(channel)
    open_windows([conversation])
    private, doubtful, public, usual = automated(
        [conversation],
        CheckedContent("text", "Hi #10", details={"comment_reply": {"comment": "17_1", "until": until_then}}),
        CheckedContent("text", "Hi #10/2018999", details={"comment_reply": {"comment": "17_2", "until": until_then}}),
        CheckedContent("text", "Look", details={"public_reply": {"comment": "17_3"}}),
        "Hello",
    )

    start_sender()

    assert [ended(one).status for one in (private, doubtful, public, usual)] == [*["failed"] * 3, "sent"]
    channel.refresh_from_db()
    assert channel.status == "active"


def test_a_comment_is_answered_in_private_once(a: Tenant, meta: RunningSandbox, start_sender: StartSender) -> None:
    conversation = a_conversation(a_channel(a.workspace, meta, platform="instagram"))
    until_then = (now() + timedelta(days=7)).isoformat()
    content = CheckedContent("text", "Hi", details={"comment_reply": {"comment": "17_1", "until": until_then}})
    messages = automated([conversation], content, content)

    start_sender()

    assert [ended(one).error_code for one in messages] == [None, "10900"]
    assert messages[1].error_message == "This comment was answered in private before."


def test_automated_templates_leave_a_tenth_of_the_allowance_to_people(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    Channel.objects.filter(pk=channel.pk).update(messaging_limit=10)
    content = CheckedContent("template", "", template={"name": "hello", "language": "en_US", "components": []})
    conversations = many_conversations(channel, 11)
    automated(conversations[:10], content)

    start_sender()

    until(lambda: meta.ledger()["sent_total"] == 9)
    until(QueuedMessage.objects.filter(run=None, is_ready=False).first, what="one that waits")
    with connection.cursor() as cursor:
        key = keys_of(cursor, {channel.pk})[channel.pk]
        capacity = allowance_capacities(cursor, [key])[key]
    assert (capacity.people, capacity.for_broadcasts) == (1, 0)
    fields = {"type": "template", "template": content.template}
    assert ended(a_message(conversations[10], "", **fields)).status == "sent"
    assert meta.ledger()["sent_total"] == 10

"""From a callback to the facts that start automations: messages, stories, advertisements, opt-outs and pauses."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from tests import furnished
from tests.channelconnect.inbox.notices import message, of_number
from tests.channelconnect.inbox.signed import event, post
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox
from workspaces.automations.models import Automation, AutomationPause, AutomationRun, ContactQueue, TriggerEvent
from workspaces.conversations.models import Conversation, Message
from workspaces.subaccounts.models import Channel

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
STORY = "https://scontent.example/story"
ADA = "491701234567"


def text(id: str, body: str, seconds: int = 0, **more: Any) -> dict[str, Any]:
    at = int(now().timestamp()) - 60 + seconds
    return message(type="text", text={"body": body}, **more) | {"id": id, "timestamp": str(at)}


def test_a_message_is_a_fact_once(meta: RunningSandbox, number: Channel, automation: Automation) -> None:
    first, second = text("wamid.1", "Hello"), text("wamid.2", "Anybody there?", 1)
    for batch in ([second, first], [first, text("wamid.3", "?", 2)]):
        post(meta, of_number(messages=batch))
    events = list(TriggerEvent.objects.order_by("id"))
    assert [(one.kind, one.message_id, one.data) for one in events] == [
        ("message", Message.objects.get(provider_message_id="wamid.1").pk, {"first": True}),
        ("message", Message.objects.get(provider_message_id="wamid.2").pk, {}),
        ("message", Message.objects.get(provider_message_id="wamid.3").pk, {}),
    ]
    conversation = Conversation.objects.get()
    assert {(one.channel_id, one.conversation_id, one.contact_id) for one in events} == {
        (number.pk, conversation.pk, conversation.contact_id)
    }
    queue = ContactQueue.objects.get()
    assert (queue.contact_id, queue.is_due) == (conversation.contact_id, True)


def test_without_an_automation_there_are_no_facts(meta: RunningSandbox, number: Channel) -> None:
    post(meta, of_number(messages=[text("wamid.1", "Hello")]))
    assert (Message.objects.count(), TriggerEvent.objects.count(), ContactQueue.objects.count()) == (1, 0, 0)


def test_who_was_written_to_first_still_writes_a_first_message(
    meta: RunningSandbox, number: Channel, automation: Automation
) -> None:
    """A contact whose only messages are ours has not written. One who wrote on another channel has."""
    other = ChannelFactory.create(workspace=automation.workspace, external_id="4002")
    post(meta, of_number("smb_message_echoes", message_echoes=[text("wamid.0", "Hi!") | {"to": ADA}]))
    post(meta, of_number(messages=[text("wamid.1", "Hello")]))
    post(meta, of_number(messages=[text("wamid.2", "Hello again")]))
    post(meta, of_number(messages=[text("wamid.3", "Hello there")], number=other.external_id))
    assert [one.data for one in TriggerEvent.objects.order_by("id")] == [{"first": True}, {}, {}]


def a_run(automation: Automation, contact: int, channel: Channel) -> AutomationRun:
    assert automation.published is not None
    return AutomationRun.objects.create(
        workspace=automation.workspace,
        automation=automation,
        version=automation.published,
        contact_id=contact,
        channel_id=channel.pk,
        status="waiting",
        node="greet",
        wait_kind="reply",
        wait_until=now() + timedelta(days=1),
        subject=uuid.uuid4().hex,
        started_by_kind="system",
    )


def test_an_opt_out_stops_the_contacts_runs(meta: RunningSandbox, number: Channel, automation: Automation) -> None:
    """Neither the word "stop" in a sentence nor another contact's opt-out stops them."""
    post(meta, of_number(messages=[text("wamid.1", "Hello")]))
    post(meta, of_number(messages=[text("wamid.2", "Hello") | {"from": "491709999999"}]))
    ada, bob = Conversation.objects.order_by("id").values_list("contact_id", flat=True)
    runs = [a_run(automation, ada, number), a_run(automation, ada, number), a_run(automation, bob, number)]
    post(meta, of_number(messages=[text("wamid.3", "I will not stop asking")]))
    assert {one.status for one in AutomationRun.objects.all()} == {"waiting"}
    post(meta, of_number(messages=[text("wamid.4", "Stop!")]))
    for one in runs:
        one.refresh_from_db()
    assert [one.status for one in runs] == ["stopped", "stopped", "waiting"]
    assert runs[0].ended_at is not None
    opting_out = TriggerEvent.objects.get(message_id=Message.objects.get(provider_message_id="wamid.4").pk)
    assert opting_out.data == {"opts_out": True}


def test_a_message_from_the_phone_pauses_until_the_conversation_is_closed(
    meta: RunningSandbox, a: Tenant, number: Channel, automation: Automation
) -> None:
    post(meta, of_number(messages=[text("wamid.1", "Hello")]))
    assert not AutomationPause.objects.exists()
    answer = text("wamid.2", "I am here.", 5) | {"to": ADA}
    post(meta, of_number("smb_message_echoes", message_echoes=[answer]))
    conversation, pause = Conversation.objects.get(), AutomationPause.objects.get()
    written = Message.objects.get(provider_message_id="wamid.2")
    assert (pause.conversation_id, pause.workspace_id, pause.reason) == (
        conversation.pk,
        a.workspace.pk,
        "person_answered",
    )
    assert pause.until == written.provider_time + timedelta(hours=24)
    assert a.workspace_api.patch(f"/conversations/{conversation.uuid}", {"status": "closed"}).status_code == 200
    assert not AutomationPause.objects.exists()


def test_an_answer_over_the_api_pauses_and_a_late_echo_does_not(
    meta: RunningSandbox, a: Tenant, number: Channel, automation: Automation
) -> None:
    post(meta, of_number(messages=[text("wamid.1", "Hello")]))
    old = text("wamid.0", "Yesterday's answer", -25 * 3600) | {"to": ADA}
    post(meta, of_number("smb_message_echoes", message_echoes=[old]))
    assert not AutomationPause.objects.exists()
    conversation = Conversation.objects.get()
    assert a.workspace_api.post(f"/conversations/{conversation.uuid}/messages", {"text": "Yes?"}).status_code == 201
    pause = AutomationPause.objects.get()
    assert (pause.conversation_id, bool(pause.by_label)) == (conversation.pk, True)


def test_a_pause_follows_a_conversation_into_the_one_that_it_is_joined_to(
    meta: RunningSandbox, a: Tenant, number: Channel, automation: Automation
) -> None:
    post(meta, of_number(messages=[text("wamid.1", "Hello")]))
    post(meta, of_number(messages=[text("wamid.2", "Hello") | {"from": "491709999999"}]))
    kept, other = Conversation.objects.select_related("contact").order_by("id")
    a.workspace_api.post(f"/conversations/{other.uuid}/messages", {"text": "Yes?"})
    before = AutomationPause.objects.get(pk=other.pk)
    path = f"/contacts/{kept.contact.uuid}/merge"
    assert a.workspace_api.post(path, {"contact": str(other.contact.uuid)}).status_code == 200
    moved = AutomationPause.objects.get()
    assert (moved.pk, moved.until, moved.by_label) == (kept.pk, before.until, before.by_label)
    assert a.workspace_api.delete(f"/contacts/{kept.contact.uuid}").status_code == 200
    assert not AutomationPause.objects.exists()


AD = {"source": "ADS", "type": "OPEN_THREAD", "ad_id": "6045"}
WHATSAPP_AD = {"source_type": "ad", "source_id": "120", "headline": "Cut and colour", "ctwa_clid": "x" * 900}


def test_stories_and_advertisements_are_told_apart(
    meta: RunningSandbox, number: Channel, channels: dict[str, Channel]
) -> None:
    mention = {"type": "story_mention", "payload": {"url": STORY}}
    post(meta, event("instagram", message={"mid": "m_1", "attachments": [mention]}))
    post(meta, event("instagram", message={"mid": "m_2", "text": "Wow", "reply_to": {"story": {"id": "5"}}}))
    post(meta, of_number(messages=[text("wamid.1", "Hi") | {"referral": WHATSAPP_AD}]))
    post(meta, event("facebook", message={"mid": "m_3", "text": "Hi", "referral": AD}))
    post(meta, event("facebook", postback={"mid": "m_4", "title": "Start", "payload": "GO", "referral": AD}))
    clicked = event("facebook", referral={**AD, "ref": "spring"})
    post(meta, clicked)
    post(meta, clicked.replace(b'"messaging"', b'"standby"'))  # the same click again
    link = {"source": "SHORTLINK", "type": "OPEN_THREAD", "ref": "shop"}
    post(meta, event("facebook", referral=link))
    post(meta, event("facebook", message={"mid": "m_5", "text": "Hi", "referral": link}))
    told = TriggerEvent.objects.order_by("id").values_list("kind", "subject", "data")
    assert list(told) == [
        ("story_mention", "", {"first": True, "story": "mention"}),
        ("message", "", {"story": "reply"}),
        ("message", "120", {"first": True, "referral": {"ad": "120", "headline": "Cut and colour"}}),
        ("message", "6045", {"first": True, "referral": {"ad": "6045"}}),
        ("message", "6045", {"referral": {"ad": "6045"}}),
        ("ad_click", "6045", {"referral": {"ad": "6045", "ref": "spring"}}),
        ("message", "", {"link": {"ref": "shop"}}),
    ]


def statements_about_automations(meta: RunningSandbox, prefix: str) -> int:
    """Count the statements about automations while 40 messages of 40 people are read."""
    messages = [text(f"{prefix}{one}", "Hello") | {"from": f"4917012345{one:02}"} for one in range(40)]
    with CaptureQueriesContext(connection) as captured:
        post(meta, of_number(messages=messages))
    return sum("automations_" in query["sql"] for query in captured)


def test_a_batch_of_messages_costs_two_statements(meta: RunningSandbox, number: Channel, request: Any) -> None:
    """And one where no automation is on."""
    assert statements_about_automations(meta, "off") == 1
    request.getfixturevalue("automation")
    assert statements_about_automations(meta, "on") == 2
    assert TriggerEvent.objects.count() == 40

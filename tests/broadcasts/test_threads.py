"""What a broadcast has sent stands in the contact's conversation, once there is one, and follows what becomes of it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from broadcasts.content import FrozenMessage
from broadcasts.models import Recipient
from tests import furnished
from tests.broadcasts.under_way import a_broadcast, a_recipient
from tests.factories import BODY_PARAMETER, ChannelFactory, ContactFactory, a_message_template
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, wait_for_lock
from tests.workspaces.conversations.facts import receive, received, the_conversation
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.models import Contact
from workspaces.contacts.services import remove_contact
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.services.removal import KEPT

a = furnished.a_with_channel

pytestmark = pytest.mark.django_db


def an_answer(a: Tenant) -> Conversation:
    """Somebody writes, and so has a conversation."""
    receive(received(a.channel, text="Is it still on?"))
    return the_conversation()


def shown(a: Tenant, conversation: Conversation) -> list[dict[str, Any]]:
    answer = a.workspace_api.get(f"/conversations/{conversation.uuid}/messages")
    assert answer.status_code == 200
    assert answer.json()["meta"]["total"] == len(answer.json()["data"])
    return list(answer.json()["data"])


def sent(a: Tenant, contact: Contact, at: datetime, **more: Any) -> Recipient:
    broadcast = a_broadcast(channel=more.pop("channel", a.channel), frozen=more.pop("frozen", None))
    return a_recipient(broadcast, contact=contact, sent_at=at, **more)


def statements_of(a: Tenant, conversation: Conversation) -> int:
    with CaptureQueriesContext(connection) as captured:
        shown(a, conversation)
    return len(captured)


def test_it_stands_there_marked_and_its_status_follows(a: Tenant) -> None:
    conversation = an_answer(a)
    earlier = conversation.last_inbound_at - timedelta(minutes=5) if conversation.last_inbound_at else now()
    recipient = sent(a, conversation.contact, earlier, provider_message_id="wamid.r1")

    [answer, message] = shown(a, conversation)

    assert (answer["direction"], message["id"]) == ("in", str(recipient.uuid))
    assert message["sent_by"] == {"kind": "broadcast", "label": "Autumn sale"}
    assert (message["type"], message["text"], message["status"], message["template"]) == ("text", "Hello", "sent", None)
    assert (message["provider_message_id"], message["provider_time"]) == ("wamid.r1", message["sent_at"])
    at = now()
    Recipient.objects.filter(contact_id=recipient.contact_id).update(status="delivered", delivered_at=at)
    assert [one["status"] for one in shown(a, conversation)] == ["received", "delivered"]
    Recipient.objects.filter(contact_id=recipient.contact_id).update(status="read", read_at=at)
    page = dashboard_client(a.workspace).get(f"/app/inbox/{conversation.uuid}").content.decode()
    assert '<span class="badge">Broadcast</span><span>Autumn sale</span>' in page
    assert '<span class="bubble-status read">Read</span>' in page
    Recipient.objects.filter(contact_id=recipient.contact_id).update(
        status="failed", failed_at=at, error_code="131026", error_message="Undeliverable"
    )
    assert shown(a, conversation)[1]["error"] == {"code": "131026", "message": "Undeliverable"}
    assert (the_conversation().last_message_direction, Message.objects.count()) == ("in", 2)


def test_who_has_no_conversation_gets_none_by_it_and_finds_it_once_they_answer(a: Tenant) -> None:
    contact = ContactFactory.create(workspace=a.workspace, phone="+4915112345678")
    sent(a, contact, now() - timedelta(days=1))
    assert not Message.objects.exists()
    conversation = Conversation.objects.create(workspace=a.workspace, channel=a.channel, contact=contact)
    assert [one["sent_by"]["kind"] for one in shown(a, conversation)] == ["broadcast"]


def test_only_what_has_left_to_this_contact_on_this_channel_stands_there(a: Tenant) -> None:
    conversation = an_answer(a)
    contact, at = conversation.contact, now()
    other = ChannelFactory.create(workspace=a.workspace)
    sent(a, contact, at, status="pending")
    sent(a, contact, at, status="skipped", skip_reason="opted_out", address=None)
    sent(a, contact, at, channel=other)
    sent(a, ContactFactory.create(workspace=a.workspace), at)
    sent(a, contact, at - KEPT - timedelta(minutes=1))
    assert [one["direction"] for one in shown(a, conversation)] == ["in"]


def test_it_reads_as_its_recipient_got_it(a: Tenant) -> None:
    conversation = an_answer(a)
    a_message_template(a.channel, text="Hi {{1}}, come in.", name="sale", parameters=[BODY_PARAMETER])
    body = {"type": "body", "parameters": [{"type": "text", "text": "{{contact.name}}"}]}
    template = {"name": "sale", "language": "en", "components": [body]}
    frozen = FrozenMessage(template=template, variables=["contact.name"])
    sent(a, conversation.contact, now(), frozen=frozen, values=["Ada"])
    link = FrozenMessage("See {{link.0}}", links=["https://shop.example/sale"])
    sent(a, conversation.contact, now(), frozen=link)
    gone = FrozenMessage(template={**template, "name": "gone"}, variables=["contact.name"])
    sent(a, conversation.contact, now(), frozen=gone, values=["Ada"])

    found = [(one["type"], one["text"], one["template"]) for one in shown(a, conversation)[:3]]

    filled = [{"type": "body", "parameters": [{"type": "text", "text": "Ada"}]}]
    assert sorted(found, key=lambda one: one[1]) == [
        ("template", "", {"name": "gone", "language": "en", "components": filled}),
        ("template", "Hi Ada, come in.", {"name": "sale", "language": "en", "components": filled}),
        ("text", "See https://shop.example/sale", None),
    ]


def test_a_thread_takes_the_same_statements_whatever_was_sent(a: Tenant) -> None:
    conversation = an_answer(a)
    statements_of(a, conversation)  # what is asked once is known from here on
    without = statements_of(a, conversation)
    for number in range(3):
        sent(a, conversation.contact, now() - timedelta(hours=number), provider_message_id=f"wamid.r{number}")
    first = statements_of(a, conversation)
    few = statements_of(a, conversation)
    for number in range(20):
        sent(a, conversation.contact, now() - timedelta(days=number))
    assert statements_of(a, conversation) == first
    assert statements_of(a, conversation) == few == without + 1  # which messages stand there
    Recipient.objects.update(status="delivered", delivered_at=now())
    followed = statements_of(a, conversation)
    assert followed <= few + 4
    assert {one["status"] for one in shown(a, conversation)} == {"received", "delivered"}


def test_a_message_that_the_network_told_of_itself_stands_there_once(a: Tenant) -> None:
    conversation = an_answer(a)
    incoming = Message.objects.get()
    Message.objects.filter(pk=incoming.pk).update(provider_message_id="wamid.r1")
    sent(a, conversation.contact, now(), provider_message_id="wamid.r1")
    assert len(shown(a, conversation)) == 1


@pytest.mark.django_db(transaction=True)
def test_many_who_look_at_once_see_it_once(a: Tenant) -> None:
    conversation = an_answer(a)
    sent(a, conversation.contact, now())
    answers = at_once(lambda _: len(shown(a, conversation)), times=4)
    assert answers == [2] * 4
    assert Message.objects.filter(sent_by_kind="broadcast").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_a_contact_who_goes_meanwhile_nothing_is_written(a: Tenant) -> None:
    conversation = an_answer(a)
    sent(a, conversation.contact, now())

    def look() -> int:
        try:
            return int(a.workspace_api.get(f"/conversations/{conversation.uuid}/messages").status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            remove_contact(contact=conversation.contact, now=now(), by=SYSTEM)
            answer = pool.submit(look)
            wait_for_lock()
        assert answer.result(PATIENCE_SECONDS) == 200
    assert not Message.objects.exists()
    assert not Recipient.objects.filter(address__isnull=False).exists()

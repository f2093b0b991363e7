"""From the door to the message in its conversation; readers that are killed lose nothing and double nothing."""

import hashlib
import hmac
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db.models import Sum
from django.test import Client
from django.utils.timezone import now

from channelconnect.inbox.claims import store_notice
from channelconnect.inbox.reading import read_waiting
from channelconnect.models import ProviderNotice, ReadingAttempt
from tests.channelconnect.inbox.applying import a_message
from tests.channelconnect.inbox.notices import NUMBER, message, of_number
from tests.factories import ChannelFactory
from tests.processes.own_processes import database_url, start, variables
from tests.processes.starting import kill
from tests.sizes import size
from tests.waiting import until, wait_for_lock
from tools.sandbox import RunningSandbox
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation, Message

BODIES, EACH, KILLS = size("workers", "notices"), 5, size("workers", "killed readers")
READER = ("-m", "tests.channelconnect.inbox.reader_process")


def post(meta: RunningSandbox, body: bytes) -> int:
    proof = "sha256=" + hmac.new(meta.config.app_secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-Hub-Signature-256": proof}
    answer = Client().post("/connect/provider-events", body, content_type="application/json", headers=headers)
    return int(answer.status_code)


@pytest.mark.django_db
def test_what_a_person_wrote_stands_in_their_conversation_once(meta: RunningSandbox) -> None:
    channel = ChannelFactory.create(external_id=NUMBER)
    body = a_message("wamid.1", "Is there a table free?")
    again = body.replace(b'"time": 1790000000', b'"time": 1790000001')
    assert [post(meta, one) for one in (body, body, again)] == [200] * 3
    assert read_waiting() == 2
    written = Message.objects.get()
    assert (written.text, written.channel_id, written.provider_message_id) == (
        "Is there a table free?",
        channel.pk,
        "wamid.1",
    )
    assert written.conversation.unread_count == 1


@pytest.mark.django_db
def test_who_is_said_to_want_no_marketing_when_a_message_fails_is_noted(meta: RunningSandbox) -> None:
    ChannelFactory.create(external_id=NUMBER)
    post(meta, a_message("wamid.1", "Hello"))
    failed = {"id": "wamid.2", "status": "failed", "timestamp": "1790000009", "recipient_id": "491701234567"}
    for code in (131026, 131050):
        assert not Contact.objects.filter(marketing_opted_out_at__isnull=False).exists()
        assert post(meta, of_number(statuses=[{**failed, "errors": [{"code": code, "title": "Failed"}]}])) == 200
        read_waiting()
    contact = Contact.objects.get()
    assert contact.marketing_opted_out_at == datetime.fromtimestamp(1_790_000_009, UTC)
    assert contact.opted_out_at is None


def sent(person: int, number: int) -> dict[str, Any]:
    return message(type="text", text={"body": f"{number}"}) | {
        "from": f"4917000000{person:02}",
        "id": f"wamid.{person}.{number}",
    }


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_readers_that_are_killed_lose_nothing_and_double_nothing() -> None:
    """Several people write; some bodies bring messages that came before. The counter of a thread counts each once.

    Each is killed in the middle of a batch: while it waits to write down messages.
    """
    ChannelFactory.create(external_id=NUMBER)
    chance, environment = random.Random(7), variables()
    known = [sent(number % 10, number) for number in range(BODIES * EACH)]
    readers, held = [], ExitStack()
    try:
        for number in range(BODIES):
            if number % (BODIES // KILLS) == 0:
                readers += [start(READER, environment) for _ in range(2)]
            fresh = known[number * EACH : (number + 1) * EACH]
            store_notice(body=of_number(messages=[*fresh, *chance.sample(known[: number * EACH + 1], 1)]))
            if number % (BODIES // KILLS) == BODIES // KILLS - 2:
                _wait_for_some(number)
                held.enter_context(_messages_held())
            if number % (BODIES // KILLS) == BODIES // KILLS - 1:
                wait_for_lock("relation")
                for reader in readers:
                    kill(reader)
                held.close()
    finally:
        held.close()
        for reader in readers:
            kill(reader)
    until(_are_all_read, what="what the dead had, of which some may have died more than once")
    assert Message.objects.count() == BODIES * EACH
    assert Conversation.objects.count() == 10
    assert Conversation.objects.aggregate(total=Sum("unread_count")) == {"total": BODIES * EACH}


def _are_all_read() -> bool:
    """Read what is there, as later readers do: the dead are found out, and what waits for longer is due."""
    unread = ProviderNotice.objects.filter(read_at=None)
    ReadingAttempt.objects.update(begun_at=now() - timedelta(minutes=1))
    unread.exclude(due_at=None).update(due_at=now())
    read_waiting()
    return not unread.exists()


def _wait_for_some(number: int) -> None:
    """Let the readers begin, so that they are killed at their work."""
    first = number - BODIES // KILLS + 1
    until(lambda: ProviderNotice.objects.exclude(read_at=None).count() > first, what="the readers to begin")


@contextmanager
def _messages_held() -> Iterator[None]:
    """Let nobody write a message until the block ends."""
    with psycopg.connect(database_url()) as other:
        other.execute("LOCK TABLE conversations_message IN SHARE ROW EXCLUSIVE MODE")
        yield

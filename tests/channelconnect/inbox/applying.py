"""Handlers that write down which facts they were given; some texts make them fail, as a broken body would."""

import os
import signal
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import connection

from channelconnect.inbox.claims import store_notice
from channelconnect.inbox.reading import FactHandler
from tests.channelconnect.inbox.notices import message, of_number
from workspaces.conversations.facts import ConversationFact, MessageReceived, StatusChanged

CREATE = """
CREATE TABLE applied_facts (
    id bigint GENERATED ALWAYS AS IDENTITY, kind text, message_id text, channel_id bigint, batch bigint
)
"""
DROP = "DROP TABLE IF EXISTS applied_facts"
WRITE = """
INSERT INTO applied_facts (kind, message_id, channel_id, batch)
SELECT %s, message_id, channel_id, txid_current() FROM unnest(%s::text[], %s::bigint[]) AS told (message_id, channel_id)
"""
BREAKS, BREAKS_STATEMENT, KILLS = "breaks", "breaks the statement", "kills"


class Broken(Exception):
    """What a handler with a mistake raises; it quotes the customer."""


def write_down(facts: Sequence[Any], *, now: datetime) -> None:
    for fact in facts:
        if getattr(fact, "text", "") == BREAKS:
            raise Broken(fact)
        if getattr(fact, "text", "") == KILLS:
            os.kill(os.getpid(), signal.SIGKILL)
    with connection.cursor() as cursor:
        cursor.execute(WRITE, [type(facts[0]).__name__, [_id(one) for one in facts], [one.channel.id for one in facts]])
        if any(getattr(fact, "text", "") == BREAKS_STATEMENT for fact in facts):
            cursor.execute("SELECT 1 / 0")


def _id(fact: ConversationFact) -> str:
    return str(getattr(fact, "message_id", ""))


def handlers() -> Iterable[FactHandler]:
    return [FactHandler(MessageReceived, write_down), FactHandler(StatusChanged, write_down)]


def applied() -> list[str]:
    """Give the ids of the messages that were applied, in that order."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT message_id FROM applied_facts ORDER BY id")
        return [name for (name,) in cursor.fetchall()]


def transactions() -> int:
    """Say in how many transactions they were."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT batch) FROM applied_facts")
        [number] = cursor.fetchone()
        return int(number)


def a_message(name: str, text: str = "Hi", number: str = "4001") -> bytes:
    sent = message(type="text", text={"body": text}) | {"id": name}
    return of_number(number=number, messages=[sent])


def store(*names: str, text: str = "Hi") -> None:
    """Store a callback with one message for each name."""
    for name in names:
        store_notice(body=a_message(name, text))

"""Networks stamp whole seconds: what has one time stands in the order in which it arrived, everywhere."""

import random
from collections import defaultdict
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from tests import furnished
from tests.tenants import Tenant
from tests.workspaces.conversations.dashboard.test_inbox import page_of
from tests.workspaces.conversations.facts import (
    apply,
    echo,
    moment,
    person,
    receive,
    received,
    texts_of,
    the_conversation,
)
from tests.workspaces.conversations.sending import send
from tests.workspaces.conversations.test_topics import recorded_events, subscribe
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.conversations.dashboard.inbox import read_entries
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.services import inbound

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
Told = tuple[int, str, datetime]


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def random_messages(seed: int) -> list[list[Told]]:
    """Batches of what a few people write within three seconds: who, what, and the network's time."""
    chance, second = random.Random(seed), moment(-60).replace(microsecond=0).timestamp()
    numbers = iter(range(1_000))
    return [
        [
            (
                chance.randrange(1, 6),
                f"Text {next(numbers)}",
                datetime.fromtimestamp(second + chance.randrange(3), tz=moment().tzinfo),
            )
            for _ in range(chance.randrange(1, 12))
        ]
        for _ in range(5)
    ]


def threads_of(told: list[list[Told]]) -> dict[int, list[str]]:
    """What stands in each person's thread: by its time, then as it arrived."""
    by_person: defaultdict[int, list[tuple[datetime, str]]] = defaultdict(list)
    for who, text, at in (one for batch in told for one in batch):
        by_person[who].append((at, text))
    return {who: [text for _, text in sorted(rows, key=lambda row: row[0])] for who, rows in by_person.items()}


def of_person(number: int) -> Conversation:
    return Conversation.objects.get(contact__name=f"Person {number}")


def read_by_api(a: Tenant, address: str) -> list[dict[str, Any]]:
    """All that a list holds, page by page."""
    rows: list[dict[str, Any]] = []
    pages = 1
    while pages <= 60:
        page = a.workspace_api.get(f"{address}?per_page=3&page={pages}").json()
        rows += page["data"]
        if pages == page["meta"]["last_page"]:
            break
        pages += 1
    return rows


@pytest.mark.parametrize("seed", range(4))
def test_threads_and_lists_follow_arrival_where_times_are_equal(a: Tenant, seed: int) -> None:
    subscribe(a, "message.received")
    told = random_messages(seed)
    for batch in told:
        receive(*(received(a.channel, person=person(who), text=text, at=at) for who, text, at in batch))
    threads = threads_of(told)
    for who, texts in threads.items():
        conversation = of_person(who)
        assert texts_of(conversation) == texts
        shown = read_by_api(a, f"/conversations/{conversation.uuid}/messages")
        assert [one["text"] for one in reversed(shown)] == texts
        assert [entry.message.text for entry in read_entries(conversation).entries if entry.message] == texts
        assert conversation.last_message_preview == texts[-1]
    newest = list(dict.fromkeys(f"Person {who}" for batch in reversed(told) for who, _, _ in reversed(batch)))
    listed = read_by_api(a, "/conversations")
    assert [one["contact"]["name"] for one in listed] == newest
    assert [one["last_message"]["text"] for one in listed] == [threads[int(name[-1])][-1] for name in newest]
    events = iter([data["message"]["text"] for _, data in recorded_events(a)])
    for batch in told:
        by_time = [text for _, text, _ in sorted(batch, key=lambda one: one[2])]
        assert [next(events) for _ in batch] == by_time


def test_the_page_of_a_thread_goes_on_between_messages_of_one_time(a: Tenant, owner: Client) -> None:
    at = moment(-60)
    receive(*(received(a.channel, text=f"Text {number:03d}", at=at) for number in range(70)))
    newest = read_entries(the_conversation())
    assert [one.message.text for one in newest.entries if one.message] == [f"Text {n:03d}" for n in range(20, 70)]
    older = owner.get(page_of(the_conversation()), {"earlier": newest.earlier}).content.decode()
    assert [older.index(f"Text {n:03d}") for n in range(20)] == sorted(older.index(f"Text {n:03d}") for n in range(20))


def test_what_left_elsewhere_within_one_second_stands_as_it_arrived(a: Tenant) -> None:
    at = moment(-60)
    apply(inbound.record_echoes, *(echo(a.channel, text=f"Text {number}", at=at) for number in range(5)))
    assert texts_of(the_conversation()) == [f"Text {number}" for number in range(5)]
    assert the_conversation().last_message_preview == "Text 4"


def test_an_answer_whose_time_the_network_tells_is_followed_by_what_comes_in_the_same_second(a: Tenant) -> None:
    second = moment(-60).replace(microsecond=0)
    receive(received(a.channel, text="Hello", at=second))
    ours = send(a, text="Yes?")
    apply(inbound.record_echoes, echo(a.channel, text="Yes?", at=second, opaque=str(ours.uuid)))
    receive(received(a.channel, text="A table for two", at=second))
    assert texts_of(the_conversation()) == ["Hello", "Yes?", "A table for two"]
    assert the_conversation().last_message_preview == "A table for two"


@pytest.mark.parametrize("kept_wrote_last", [True, False])
def test_of_two_contacts_that_become_one_the_last_message_is_the_one_that_arrived_last(
    a: Tenant, kept_wrote_last: bool
) -> None:
    at = moment(-60)
    for number in (2, 1) if kept_wrote_last else (1, 2):
        receive(received(a.channel, person=person(number), text=f"Text of {number}", at=at))
    kept, gone = of_person(1).contact, of_person(2).contact
    merged = a.workspace_api.post(f"/contacts/{kept.uuid}/merge", {"contact": str(gone.uuid)})
    assert merged.status_code == 200
    last = Message.objects.newest_first()[0]
    assert the_conversation().last_message_uuid == last.uuid
    assert last.text == f"Text of {1 if kept_wrote_last else 2}"

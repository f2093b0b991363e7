"""How many people a number, or a portfolio's numbers together, may write to first in any 24 hours: never one more."""

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import pytest
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.sending.claims import unpack_key
from broadcasts.sending.source import BroadcastRecipients, release_held
from channelconnect.models import Allowance, AllowanceUse, ChannelCredential, SenderRun
from channelconnect.providers.message_results import CallResult, Outcome, error_of
from channelconnect.sending.allowance import person_key, remaining_allowance, remaining_people
from channelconnect.sending.sources import ClaimedMessage, MessageResult
from channelconnect.services.allowance_keys import MARGIN_SECONDS
from config.leases.connections import Connection, open_connection
from config.leases.runs import SHARDS
from tests.broadcasts.sending.broadcasts import (
    TEXT,
    a_broadcast,
    add_recipients,
    counts,
    has_ended,
    open_window,
    people,
    rows_as_counts,
    with_recipients,
)
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import NUMBERS, a_channel, a_conversation, a_message
from tests.factories import ChannelFactory, a_workspace_key
from tests.sizes import size
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.contacts.models import Contact
from workspaces.contacts.services import remove_contact
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import change_channel_limit

pytestmark = pytest.mark.django_db(transaction=True)
DAY: Final = timedelta(hours=24)
# Of three broadcasts, each of which has some people in common with the next.
PEOPLE: Final = size("counts", "people of an allowance")
EACH: Final = PEOPLE * 5 // 9
APART: Final = (PEOPLE - EACH) // 2
SENDERS: Final = 2


class Sending:
    """A source at work without a network: what it claims has an outcome at once."""

    def __init__(self, *channels: Channel) -> None:
        self.channels = channels
        self.source = BroadcastRecipients()
        self.run = random.randrange(1, 2**31)
        self.outcome: Callable[[ClaimedMessage], Outcome] = lambda _: Outcome(CallResult.ACCEPTED, "wamid.1")
        SenderRun.objects.create(number=self.run, started_at=now(), seen_at=now())

    def claim(self, own: Connection, room: int = 7) -> list[ClaimedMessage]:
        self.source.ready_channels(own, range(SHARDS))
        return list(self.source.claim(own, run=self.run, rooms={one.pk: room for one in self.channels}, batch=room * 2))

    def finish(self, own: Connection, claimed: list[ClaimedMessage]) -> None:
        results = [MessageResult(one, self.outcome(one), now().timestamp()) for one in claimed]
        self.source.record(own, run=self.run, results=results)

    def go_on(self, own: Connection) -> int:
        """Send all that may go now; says how many that was."""
        total = 0
        while True:
            self.source.advance(own)
            claimed = self.claim(own)
            self.finish(own, claimed)
            total += len(claimed)
            if not claimed:
                return total


@pytest.fixture
def own(transactional_db: None) -> Iterator[Connection]:
    with closing(open_connection("test")) as opened:
        opened.execute("SET synchronous_commit = on")
        yield opened


def a_number(channel: Channel | None = None, *, limit: int | None, portfolio: str = "") -> Channel:
    """A number with a limit, of a portfolio or alone."""
    channel = channel or ChannelFactory.create()
    ChannelCredential.objects.create(channel=channel, token="t", container_id="2001", portfolio_id=portfolio)
    Channel.objects.filter(pk=channel.pk).update(messaging_limit=limit)
    channel.refresh_from_db()
    return channel


def pass_time(hours: float) -> None:
    """Have so much time gone by."""
    with connection.cursor() as cursor:
        for statement in (
            "UPDATE channelconnect_allowanceuse SET last_at = last_at - %s::interval",
            "UPDATE channelconnect_allowance SET reserved_until = reserved_until - %s::interval",
            "UPDATE broadcasts_recipient SET due_at = due_at - %s::interval WHERE stage = 3",
        ):
            cursor.execute(statement, [f"{hours} hours"])


class ByTheLedger:
    """Senders at work, and the provider's ledger of what they sent, each entry at the moved time of its round."""

    def __init__(self, sandbox: RunningSandbox, *channels: Channel) -> None:
        self.sandbox, self.channels = sandbox, channels
        self.elapsed = timedelta()
        self.log: list[tuple[datetime, str, str]] = []

    def is_idle(self) -> bool:
        """Whether nobody is on the way, and those who wait have no room.

        Room is asked for first: without room nobody sets out. Asked for later, it may have been taken in between.
        """
        waiting = Broadcast.objects.filter(pk__in=Recipient.objects.filter(stage=Stage.HELD).values("broadcast_id"))
        if any(remaining_people(one) for one in self.channels if waiting.filter(channel=one).exists()):
            return False
        return not Recipient.objects.filter(stage__in=(Stage.READY, Stage.CLAIMED)).exists()

    def play_round(self, hours: float) -> None:
        """Wait until all who may be sent to now are, note it, and move on."""
        until(self.is_idle, what="the end of a round")
        for one in self.sandbox.ledger()["sent"][len(self.log) :]:
            at = datetime.fromtimestamp(one["at"], UTC) + self.elapsed
            self.log.append((at, one["account"], person_key(one["to"])))
        self.elapsed += timedelta(hours=hours)
        pass_time(hours)

    def most_in_a_day(self, *channels: Channel) -> int:
        """The most different people of any 24 hours whom these wrote to: those that end with a message."""
        accounts = {channel.external_id for channel in channels}
        own = [(at, who) for at, account, who in self.log if account in accounts]
        return max(len({who for at, who in own if end - DAY < at <= end}) for end, _ in own)


@pytest.mark.parametrize("portfolios", [("8001", "8001"), ("8001", "8002")], ids=["one portfolio", "two portfolios"])
def test_no_24_hours_have_one_more_whoever_sends_at_once_and_all_are_sent_to_at_last(
    a: Tenant, meta: RunningSandbox, start_sender: StartSender, portfolios: tuple[str, str]
) -> None:
    """Several senders, three broadcasts that share people, two numbers, a clock that is moved on; by the provider."""
    limit, chance = PEOPLE // 4, random.Random(5)
    first, second = (a_channel(a.workspace, meta, external_id=number) for number in NUMBERS)
    for channel, portfolio in zip((first, second), portfolios, strict=True):
        ChannelCredential.objects.filter(channel=channel).update(portfolio_id=portfolio)
        Channel.objects.filter(pk=channel.pk).update(messaging_limit=limit)
    contacts = people(first, PEOPLE)
    broadcasts = [a_broadcast(channel) for channel in (first, second, first)]
    for number, broadcast in enumerate(broadcasts):
        add_recipients(broadcast, contacts[number * APART : number * APART + EACH])
    sending, turns = ByTheLedger(meta, first, second), 0
    for _ in range(SENDERS):
        start_sender(sources=[BroadcastRecipients()], rates=None)
    while not has_ended(*broadcasts) and turns < 60:
        turns += 1
        sending.play_round(chance.choice([0.5, 3, 7, 11]))
    assert turns > 3
    assert len(sending.log) == 3 * EACH
    for group in ((first, second),) if len({*portfolios}) == 1 else ((first,), (second,)):
        assert sending.most_in_a_day(*group) == limit
    for broadcast in broadcasts:
        assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": EACH}
    for allowance in Allowance.objects.all():
        assert allowance.used == allowance.uses.count()


def test_who_finds_no_room_waits_for_the_oldest_use_to_end(own: Connection) -> None:
    channel = a_number(limit=10)
    broadcast = with_recipients(channel, 35)
    sending = Sending(channel)

    assert sending.go_on(own) == 10

    sending.source.advance(own)
    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 10, "pending": 25, "held": 25}
    waits = sorted(Recipient.objects.filter(stage=Stage.HELD).values_list("due_at", flat=True))
    window = DAY + timedelta(seconds=MARGIN_SECONDS)
    ends = sorted(AllowanceUse.objects.values_list("last_at", flat=True))
    for number, due_at in enumerate(waits):
        assert abs(due_at - (ends[number % 10] + window * (1 + number // 10))) < timedelta(seconds=2)
    broadcast.refresh_from_db()
    assert broadcast.next_due_at == waits[0]
    assert (remaining_people(channel), remaining_allowance([channel])) == (0, {channel.pk: 0})
    pass_time(23)
    assert sending.go_on(own) == 0
    pass_time(2)
    assert sending.go_on(own) == 10
    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 20, "pending": 15, "held": 15}


def test_room_that_opens_is_used_at_once(own: Connection) -> None:
    channel = a_number(limit=10)
    broadcast = with_recipients(channel, 40)
    sending = Sending(channel)
    sending.outcome = lambda one: (
        Outcome(CallResult.REFUSED, error=error_of(131026))
        if one.contact_id and one.contact_id % 2
        else Outcome(CallResult.ACCEPTED, "wamid.1")
    )

    # Whoever cannot be reached takes nobody's place.
    sending.go_on(own)
    assert Recipient.objects.filter(status="sent").count() == 10
    assert Recipient.objects.filter(status="failed").count() >= 8
    assert counts(broadcast) == rows_as_counts(broadcast)
    change_channel_limit(channel=channel, messaging_limit=15, now=now())
    sending.go_on(own)
    assert Recipient.objects.filter(status="sent").count() == 15
    # A lower one takes nothing back, and lets nobody through.
    change_channel_limit(channel=channel, messaging_limit=5, now=now())
    assert sending.go_on(own) == 0
    change_channel_limit(channel=channel, messaging_limit=None, now=now())
    sending.go_on(own)
    assert has_ended(broadcast)
    assert counts(broadcast) == rows_as_counts(broadcast)


def test_open_windows_known_people_free_text_and_other_networks_need_no_room(own: Connection) -> None:
    channel = a_number(limit=1)
    broadcast, again = a_broadcast(channel), a_broadcast(channel)
    known, *writers, held = people(channel, 5)
    sending = Sending(channel)
    add_recipients(broadcast, [known])
    sending.go_on(own)
    for writer in writers:
        open_window(channel, writer)

    add_recipients(again, [held, known, *writers])
    sending.go_on(own)

    ends = dict(Recipient.objects.of(again).values_list("contact_id", "stage"))
    assert ends == {one.pk: Stage.DONE for one in (known, *writers)} | {held.pk: Stage.HELD}
    assert not Recipient.objects.filter(contact_id__in=[one.pk for one in writers], is_counted=True).exists()
    page = a_number(ChannelFactory.create(workspace=channel.workspace, platform="facebook"), limit=None)
    text = a_broadcast(page, TEXT)
    add_recipients(text, [known], kind="id")
    open_window(page, known)
    Sending(page).go_on(own)
    assert counts(text) == {"sent": 1}
    assert Allowance.objects.count() == 1


def test_the_api_says_what_is_left(own: Connection, client: Client) -> None:
    channel = a_number(limit=10)
    with_recipients(channel, 3)
    Sending(channel).go_on(own)
    _, key = a_workspace_key(channel.workspace)

    for path in ("/api/v1/channels", f"/api/v1/channels/{channel.uuid}"):
        data = client.get(path, headers={"x-api-key": key}).json()["data"]
        found = data[0] if isinstance(data, list) else data
        assert (found["messaging_limit"], found["remaining_allowance"]) == (10, 7)


def test_a_template_of_a_conversation_waits_and_goes_before_broadcasts(
    a: Tenant, meta: RunningSandbox, start_sender: StartSender
) -> None:
    channel = a_channel(a.workspace, meta)
    Channel.objects.filter(pk=channel.pk).update(messaging_limit=2)
    broadcast = with_recipients(channel, 6)
    start_sender(rates=None)
    until(lambda: Recipient.objects.filter(stage=Stage.HELD).count() == 4)
    template = {"name": "order_ready", "language": "en_US", "components": []}
    body = [{"type": "body", "parameters": [{"type": "text", "text": "Ann"}]}]

    message = a_message(a_conversation(channel), "", type="template", template=template | {"components": body})
    until(lambda: Allowance.objects.filter(reserved=1).exists())
    assert Message.objects.get().status == "pending"
    AllowanceUse.objects.filter(pk=AllowanceUse.objects.order_by("pk")[0].pk).update(last_at=now() - DAY * 2)

    until(partial(lambda one: Message.objects.get(pk=one.pk).status == "sent", message))
    assert Recipient.objects.of(broadcast).filter(status="sent").count() == 2
    assert meta.ledger()["sent_total"] == 3


def test_two_contacts_by_number_and_by_id_are_one_person(own: Connection) -> None:
    channel = a_number(limit=1)
    [contact] = people(channel, 1)
    broadcast = a_broadcast(channel)
    add_recipients(broadcast, [contact])
    sending = Sending(channel)
    sending.go_on(own)
    other = Contact.objects.create(workspace=channel.workspace, name="Same", search_key="same")
    Recipient.objects.create(
        broadcast_id=a_broadcast(channel, next_due_at=now()).pk,
        contact_id=other.pk,
        due_at=now(),
        address_kind="id",
        address=(contact.phone or "").removeprefix("+"),
        values=["Same"],
        created_at=now(),
    )

    assert sending.go_on(own) == 1
    assert (AllowanceUse.objects.get().sends, Broadcast.objects.count()) == (2, 2)


def test_who_is_claimed_for_two_broadcasts_at_once_counts_while_one_of_them_has_left(own: Connection) -> None:
    channel = a_number(limit=1)
    known, next_one = people(channel, 2)
    broadcasts = [a_broadcast(channel) for _ in range(2)]
    for broadcast in broadcasts:
        add_recipients(broadcast, [known])
    sending = Sending(channel)
    sending.outcome = lambda one: (
        Outcome(CallResult.REFUSED, error=error_of(131026))
        if unpack_key(one.id)[0] == broadcasts[0].pk
        else Outcome(CallResult.ACCEPTED, "wamid.1")
    )

    claimed = sending.claim(own)
    assert len(claimed) == 2
    assert AllowanceUse.objects.get().sends == 2
    sending.finish(own, claimed)

    assert [counts(one) for one in broadcasts] == [{"failed": 1}, {"sent": 1}]
    assert (AllowanceUse.objects.get().sends, remaining_people(channel)) == (1, 0)
    add_recipients(broadcasts[1], [next_one])
    assert sending.go_on(own) == 0


def test_a_contact_removed_while_sent_to_takes_and_returns_no_room(own: Connection) -> None:
    channel = a_number(limit=10)
    broadcast = a_broadcast(channel)
    gone, fine = people(channel, 2)
    add_recipients(broadcast, [gone, fine])
    sending = Sending(channel)
    sending.outcome = lambda _: Outcome(CallResult.REFUSED, error=error_of(131026))
    claimed = sending.claim(own)
    assert len(claimed) == 2

    remove_contact(contact=gone, now=now(), by=SYSTEM)
    sending.finish(own, claimed)

    assert counts(broadcast) == rows_as_counts(broadcast) == {"failed": 2}
    assert AllowanceUse.objects.count() == 1


def test_what_waits_for_room_is_looked_at_a_part_at_a_time_and_then_from_the_front(own: Connection) -> None:
    first, second = (a_number(limit=1) for _ in range(2))
    broadcasts = [with_recipients(channel, 3) for channel in (first, second)]
    Sending(first, second).go_on(own)
    for channel in (first, second):
        change_channel_limit(channel=channel, messaging_limit=2, now=now())

    after = release_held(own, after=0, limit=1)
    assert [counts(one)["held"] for one in broadcasts] == [1, 2]
    after = release_held(own, after=after, limit=1)
    assert [counts(one)["held"] for one in broadcasts] == [1, 1]
    assert release_held(own, after=after, limit=1) == 0


def test_no_more_are_released_than_there_is_room_for_whatever_the_statistics_say(own: Connection) -> None:
    """With those of a table that was empty PostgreSQL looks for them in another way."""
    channel = a_number(limit=1)
    Broadcast.objects.filter(pk=with_recipients(a_number(limit=None), 300).pk).update(next_due_at=None)
    Recipient.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE broadcasts_recipient")
    broadcast = with_recipients(channel, 5)
    Sending(channel).go_on(own)
    change_channel_limit(channel=channel, messaging_limit=2, now=now())

    release_held(own, after=0)

    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 1, "pending": 4, "held": 3}

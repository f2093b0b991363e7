"""How many people a portfolio's numbers write to first in any 24 hours, by the provider's own log of several days."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection, transaction

from broadcasts.models import Broadcast
from channelconnect.models import Allowance, ChannelCredential
from channelconnect.sending.allowance import remaining_people
from channelconnect.services.allowance_keys import WINDOW
from tests.channelconnect.sending.messages import NUMBERS, a_channel
from tests.clocks.moved import MovedClock
from tests.clocks.sending import (
    MESSAGE,
    Sent,
    approve_template,
    ask,
    import_contacts,
    is_idle,
    schedule,
    sent_by,
    start_sending,
    wait_until_all_are_at_work,
)
from tests.sizes import size
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.contacts.models import Contact
from workspaces.conversations.models import QueuedMessage
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import change_channel_limit

TO_ALL: Final = size("counts", "people of several days")
LIMIT: Final = TO_ALL // 2 - 1
BY_HAND, SENDERS = 6, 2
DAY: Final = timedelta(hours=24)
LEAD: Final = timedelta(seconds=0.3)
# Within so long what waited has taken the room that opened.
MOST_MOVES: Final = 150


class Story:
    """Two numbers of one portfolio, a broadcast on each to the same people, and conversations that somebody begins."""

    def __init__(self, a: Tenant, sandbox: RunningSandbox, clock: MovedClock) -> None:
        self.a, self.sandbox, self.clock = a, sandbox, clock
        self.chance = random.Random(11)
        phones = [f"+49151{12_350_000 + number}" for number in range(TO_ALL + BY_HAND)]
        import_contacts(
            a, ({"phone": phone, "tags": ["News"][: number < TO_ALL]} for number, phone in enumerate(phones))
        )
        rows = Contact.objects.filter(workspace=a.workspace)
        self.contacts = {one.phone: str(one.uuid) for one in rows}
        self.subscribers, self.others = phones[:TO_ALL], phones[TO_ALL:]
        self.channels = [a_channel(a.workspace, sandbox, external_id=number) for number in NUMBERS]
        ChannelCredential.objects.update(portfolio_id="8001")
        for channel in self.channels:
            change_channel_limit(channel=channel, messaging_limit=LIMIT, now=datetime.now(UTC))
        approve_template()

    def send_broadcasts(self) -> None:
        chosen = {"type": "contacts", "contacts": [self.contacts[phone] for phone in self.subscribers]}
        for channel in self.channels:
            schedule(self.a, channel, audience=chosen)

    def write_to(self, phone: str, channel: Channel) -> None:
        ask(self.a, "/messages", {"contact": self.contacts[phone], "channel": str(channel.uuid)} | MESSAGE, status=201)

    @contextmanager
    def somebody_writing(self, phones: list[str]) -> Iterator[None]:
        """Begin conversations with these people, on either number, while the block goes on."""

        def write() -> None:
            try:
                for phone in phones:
                    self.write_to(phone, self.chance.choice(self.channels))
            finally:
                connection.close()

        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(write)
            yield
            done.result()

    @property
    def waits(self) -> bool:
        return QueuedMessage.objects.exists() or Broadcast.objects.exclude(status="sent").exists()

    def has_used_the_room(self) -> bool:
        """Whether nobody waits although there is room, and nothing is on its way."""
        return is_idle() and (remaining_people(self.channels[0]) == 0 or not self.waits)

    def next_opening(self) -> datetime:
        """Give when, by the provider's log, the next one of those who were written to counts no more."""
        last = {one.to.removeprefix("+"): one.at for one in sent_by(self.sandbox)}
        return min(at for at in last.values() if at + WINDOW > datetime.now(UTC)) + WINDOW

    def move_on(self) -> None:
        """Let some hours pass, or the time until room opens where that is sooner."""
        opening, now = self.next_opening(), datetime.now(UTC)
        later = now + timedelta(hours=self.chance.choice([5, 9, 14]))
        with transaction.atomic():
            # Whoever claims takes room, and waits for this: nothing that is claimed now is to leave hours later.
            Allowance.objects.select_for_update(no_key=True).get()
            if not self.has_used_the_room():
                return
            self.clock.move_to(later if later < opening else max(now, opening - LEAD))
        if later >= opening:
            until(lambda: datetime.now(UTC) > opening, what="the opening")

    def play(self) -> None:
        """Send to everybody, for as many days as that takes; the clock stops at odd times, and at each opening."""
        with self.somebody_writing(self.others[:3]):
            self.send_broadcasts()
        for move in range(MOST_MOVES):
            until(self.has_used_the_room, what=f"room to be used, after {move} moves", every=0.05)
            if not self.waits:
                return
            self.move_on()
            if move == 2:
                with self.somebody_writing(self.others[3:]):
                    pass
        raise AssertionError("some wait for ever")


def most_in_a_day(log: list[Sent]) -> int:
    """Give the most people of any 24 hours: each stretch that begins with a message is looked at."""
    return max(len({one.to.removeprefix("+") for one in log if first.at <= one.at < first.at + DAY}) for first in log)


def test_no_24_hours_of_the_providers_log_have_one_person_more_and_no_room_is_left_unused(
    a: Tenant, meta: RunningSandbox, clock: MovedClock
) -> None:
    story = Story(a, meta, clock)
    start_sending(clock, meta, senders=SENDERS)
    wait_until_all_are_at_work(a, story.channels[0], story.others[0], senders=SENDERS)

    story.play()

    log = sent_by(meta)
    everybody = {(number, phone) for number in NUMBERS for phone in story.subscribers}
    assert {(one.account, one.to) for one in log if one.to in story.subscribers} == everybody
    assert len(log) == 1 + len(everybody) + BY_HAND
    assert most_in_a_day(log) == LIMIT
    people = {one.to.removeprefix("+") for one in log}
    assert len(people) == TO_ALL + BY_HAND
    # Each message takes a place at most, and every place was taken as soon as it was free.
    assert log[-1].at - log[0].at < DAY * (len(log) / LIMIT)

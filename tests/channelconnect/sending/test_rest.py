"""A sender with nothing to do asks the database little, and misses nothing by that."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils.timezone import now

from broadcasts.sending.source import BroadcastRecipients
from channelconnect.sending.brakes import APP, Brakes
from channelconnect.sending.claimer import NO_ROOM, MessageClaimer, SendingCapacity
from channelconnect.sending.conversations import AutomatedMessages, ConversationMessages
from channelconnect.sending.limits import SendingLimits
from channelconnect.sending.read_marks import ReadMarks
from config.celery import wake_up_now
from config.leases.claimer import REST_SECONDS, SOON_SECONDS, Demand
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_conversation, a_message, ended
from tests.config.leases.resting import (
    A_MOMENT,
    LONG_SECONDS,
    rest_at_once,
    rest_for_long,
    rest_soon,
    statements_of,
    wait_for_rest,
)
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import QueuedMessage
from workspaces.conversations.services.sending import SENDER
from workspaces.subaccounts.models import Channel

ROUNDS = 4


@pytest.fixture
def idle(transactional_db: None) -> Iterator[MessageClaimer]:
    """The claimer of a sender that has been there for a round, and that hears wake-ups."""
    limits = SendingLimits()

    def answer() -> None:
        demand.answer(SendingCapacity(1_000, 1_000, limits))

    demand = Demand(nothing=NO_ROOM, wake=answer)
    sources = (ConversationMessages(), AutomatedMessages(), BroadcastRecipients(), ReadMarks())
    claimer = MessageClaimer(1, sources, demand, lambda claimed, channels: None, Brakes())
    claimer.hears_wake_ups = lambda: True
    assert claimer.work_once()
    yield claimer
    claimer.connection.close()


def test_a_round_at_rest_asks_eight_things(idle: MessageClaimer, monkeypatch: pytest.MonkeyPatch) -> None:
    rest_at_once(monkeypatch)
    assert idle.work_once()

    asked = statements_of(idle, ROUNDS)

    assert idle.pace == A_MOMENT
    assert len(asked) == 8 * ROUNDS, "\n".join(asked)


def test_what_is_due_before_the_end_of_a_rest_keeps_a_sender_awake(idle: MessageClaimer, channel: Channel) -> None:
    a_message(a_conversation(channel))
    found = []
    for seconds in (SOON_SECONDS * 100, SOON_SECONDS):
        QueuedMessage.objects.update(is_ready=False, due_at=now() + timedelta(seconds=seconds))
        found.append(idle.sweep(idle.connection))
    assert found == [False, True]


def test_a_sender_at_rest_is_woken_at_once(
    channel: Channel, start_sender: StartSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest_for_long(monkeypatch)
    sender = start_sender()
    for _ in range(2):
        wait_for_rest(lambda: [sender.run.claimer], LONG_SECONDS)
        message = a_message(a_conversation(channel))
        wake_up_now(SENDER)
        assert ended(message).status == "sent"


def test_a_sender_at_rest_finds_a_message_whose_wake_up_was_lost(
    channel: Channel, start_sender: StartSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest_soon(monkeypatch)
    sender = start_sender()
    wait_for_rest(lambda: [sender.run.claimer], REST_SECONDS)
    message = a_message(a_conversation(channel))
    assert ended(message).status == "sent"


def test_a_sender_at_rest_hears_at_once_that_another_has_pulled_a_brake(
    idle: MessageClaimer, meta: RunningSandbox, start_sender: StartSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest_for_long(monkeypatch)
    sender = start_sender()
    wait_for_rest(lambda: [sender.run.claimer], LONG_SECONDS)
    brakes = Brakes()
    brakes.stop(APP, LONG_SECONDS)
    other = MessageClaimer(2, (), Demand(nothing=NO_ROOM, wake=lambda: None), lambda claimed, channels: None, brakes)
    other.sweep(idle.connection)
    until(lambda: sender.run.limits.brakes.is_all_stopped, what="the brake")

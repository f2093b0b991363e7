"""A mass of messages that nobody waits for delays no answer to a person by more than a second's worth of it."""

from contextlib import closing

import pytest
from django.test import override_settings

from benchmarks.processes import fast_provider
from channelconnect.models import ChannelCredential
from channelconnect.sending import calls, claimer, loop
from channelconnect.sending.calls import CALL_LIMITS
from channelconnect.sending.channels import read_channels
from channelconnect.sending.claimer import MessageClaimer
from channelconnect.sending.conversations import ConversationMessages
from channelconnect.sending.limits import PER_CHANNEL, urgent_share_of
from channelconnect.sending.loop import SenderLoop
from config.celery import wake_up
from config.leases.connections import open_connection
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.masses import Mass, WatchedConversations
from tests.channelconnect.sending.messages import a_conversation, a_message, ended
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import Message
from workspaces.conversations.services.sending import SENDER
from workspaces.subaccounts.models import Channel

# What a number may send in a second.
A_SECOND = 80
HANGING_SECONDS = 120


@pytest.fixture
def _no_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sender not rest between two looks. It would rest for long after a look that a busy machine made long."""
    monkeypatch.setattr(claimer, "REST_FOR_EACH_LOOK", 0.0)


def an_answer(channel: Channel) -> Message:
    message = a_message(a_conversation(channel), "Yes, at eight.")
    wake_up(SENDER)
    return message


@pytest.mark.usefixtures("_no_rests")
def test_an_answer_goes_before_the_mass_of_its_own_channel(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    mass = Mass([channel], 5_000)
    start_sender(sources=[mass, WatchedConversations(mass)])
    until(lambda: mass.recorded > 30)

    message = an_answer(channel)
    before = meta.ledger()["sent_total"]

    assert ended(message).status == "sent"
    sent = [one["opaque"] for one in meta.ledger()["sent"]]
    assert sent.index(str(message.uuid)) - before <= A_SECOND
    until(lambda: mass.recorded > len(sent))


@pytest.mark.usefixtures("_no_rests")
def test_an_answer_goes_with_the_next_claims_whatever_mass_all_channels_have(
    a: Tenant, channel: Channel, start_sender: StartSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims are counted from when the sender has heard of the answer."""
    channels = [ChannelFactory.create(workspace=a.workspace) for _ in range(40)]
    others = [ChannelFactory.create(workspace=WorkspaceFactory.create(agency=a.agency)) for _ in range(10)]
    ChannelCredential.objects.bulk_create(
        ChannelCredential(channel=one, token="a token", container_id="1") for one in [*channels, *others]
    )
    mass = Mass([channel, *channels, *others], 2_000)
    conversations = WatchedConversations(mass)
    heard, look_again = list[int](), MessageClaimer.look_again

    def note_and_look_again(claimer: MessageClaimer) -> None:
        look_again(claimer)
        heard.append(mass.claims)

    monkeypatch.setattr(MessageClaimer, "look_again", note_and_look_again)
    with fast_provider() as url, override_settings(META_GRAPH_URL=url):
        start_sender(sources=[mass, conversations], rates=None)
        until(lambda: mass.recorded > 2_000)

        messages = [a_message(a_conversation(channel), "Yes, at eight.")]
        earlier = len(heard)
        wake_up(SENDER)
        until(lambda: len(heard) > earlier, what="the sender to hear of the answer")
        messages += [an_answer(one) for one in (channels[0], others[-1])]

        assert [ended(one).status for one in messages] == ["sent"] * 3
    assert mass.claimed < 50 * 2_000, "the mass was over before"
    assert len(conversations.claims_before) == 3
    # One claim may be under way, one message may come just after another's claim.
    assert conversations.claims_before[0] - heard[earlier] <= 3


def test_an_answer_goes_although_all_calls_of_its_channel_s_mass_hang(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hang for longer than a busy machine needs here, so the sender's patience is longer, too, until it ends.

    No call counts as slow here. On a busy machine the first ones might before the last ones begin, which never would.
    """
    monkeypatch.setattr(calls, "SLOW_SECONDS", HANGING_SECONDS)
    monkeypatch.setattr(loop, "CALL_LIMITS", CALL_LIMITS._replace(total_ms=HANGING_SECONDS * 1_000))
    monkeypatch.setattr(loop, "LAST_CALLS_SECONDS", 0.0)
    hanging = PER_CHANNEL - urgent_share_of(PER_CHANNEL)
    faults = [{"call": "send", "fault": "accept_then_hang", "times": hanging, "seconds": HANGING_SECONDS}]
    meta.play(faults=faults)
    mass = Mass([channel], 500)
    sender = start_sender(sources=[WatchedConversations(mass), mass])
    until(lambda: meta.ledger()["sent_total"] == hanging)

    assert ended(an_answer(channel)).status == "sent"

    assert (mass.claimed, mass.recorded) == (hanging, 0)
    sender.stop()


def test_an_answer_goes_before_what_is_claimed_of_a_mass_already(meta: RunningSandbox, channel: Channel) -> None:
    mass = Mass([channel], 1_000)
    run = SenderLoop(sources=[mass, ConversationMessages()], rates=None)
    with closing(open_connection("test")) as own:
        run.channels.take(read_channels(own, [channel.pk]))
        claimed = list(mass.claim(own, run=run.number, rooms={channel.pk: 300}, batch=300))
    answer = claimed.pop()._replace(source=ConversationMessages.name)

    with closing(run.http), closing(run.calls):
        run.calls.add(claimed)
        run.calls.add([answer])
        assert run.calls.start_waiting()

        waiting = run.calls.drop_waiting()
    assert answer not in waiting
    assert waiting

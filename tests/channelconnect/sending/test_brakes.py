"""What the provider takes no more of holds for all that share it, in every sender, and for nobody else."""

import pytest

from channelconnect.models import ProviderBrake, SenderRun
from channelconnect.sending import brakes as brakes_module
from channelconnect.sending.brakes import APP, CLEAN_SECONDS, STOPS, Brakes
from channelconnect.sending.claimer import RemainingCapacity
from channelconnect.sending.limits import SendingLimits
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import (
    BUSINESS,
    a_channel,
    a_conversation,
    a_message,
    ended,
    many_conversations,
    many_messages,
    put_off,
    sends,
)
from tests.channelconnect.sending.test_limits import Clock
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import QueuedMessage
from workspaces.subaccounts.models import Channel

# A message that has met a limit is not tried again while a test goes on.
pytestmark = pytest.mark.usefixtures("_long_waits")
LONG = {"percent": 100, "minutes": 17}


@pytest.fixture
def page(b: Tenant, meta: RunningSandbox, transactional_db: None) -> Channel:
    """A Page of another agency's customer: another account of the same app."""
    return a_channel(b.workspace, meta, platform="facebook")


@pytest.fixture
def number(a: Tenant, meta: RunningSandbox, channel: Channel) -> Channel:
    """A second number of the same business account."""
    return a_channel(a.workspace, meta, external_id="4010001")


def use_up(meta: RunningSandbox, channel: Channel, code: str, **usage: dict[str, int]) -> None:
    """Have one message meet a limit, which the provider tells beside it."""
    meta.play(usage=usage)
    put_off(a_message(a_conversation(channel), f"#{code}*1"))
    meta.play()


def test_when_the_apps_limit_is_used_up_every_channel_waits(
    meta: RunningSandbox, channel: Channel, page: Channel, start_sender: StartSender
) -> None:
    start_sender()
    use_up(meta, channel, "4", app=LONG)

    others = [a_message(a_conversation(one)) for one in (page, channel)]
    wait_for_a_round(SenderRun)

    assert [sends(meta, one) for one in others] == [0, 0]
    assert QueuedMessage.objects.filter(message__in=others, is_ready=True, tries=0).count() == 2


def test_when_an_accounts_limit_is_used_up_its_channels_wait_and_no_others(
    meta: RunningSandbox, channel: Channel, number: Channel, page: Channel, start_sender: StartSender
) -> None:
    start_sender()
    use_up(meta, channel, "80007", **{BUSINESS: LONG})

    of_account, of_another = a_message(a_conversation(number)), a_message(a_conversation(page))
    assert ended(of_another).status == "sent"
    wait_for_a_round(SenderRun)

    assert sends(meta, of_account) == 0
    assert set(ProviderBrake.objects.values_list("scope", flat=True)) == {BUSINESS}


def test_usage_that_reaches_the_limit_stops_the_account_before_an_error_does(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    start_sender()
    meta.play(usage={BUSINESS: LONG})
    assert ended(a_message(a_conversation(channel))).status == "sent"
    until(lambda: ProviderBrake.objects.filter(scope=BUSINESS).exists(), what="the brake")

    after = a_message(a_conversation(channel))
    wait_for_a_round(SenderRun)

    assert sends(meta, after) == 0


def test_other_senders_and_those_that_begin_later_hold_back_too(
    meta: RunningSandbox, channel: Channel, page: Channel, start_sender: StartSender
) -> None:
    first = start_sender()
    use_up(meta, channel, "4", app=LONG)
    until(lambda: ProviderBrake.objects.filter(scope=APP).exists(), what="the brake to be told of")
    first.stop()
    start_sender()
    wait_for_a_round(SenderRun)

    after = a_message(a_conversation(page))
    wait_for_a_round(SenderRun)

    assert sends(meta, after) == 0


@pytest.mark.usefixtures("_one_call_at_a_time")
def test_what_was_claimed_before_the_stop_is_given_back_and_costs_no_try(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    """The others wait claimed when the answer to the first call comes."""
    meta.play(usage={BUSINESS: LONG})
    many_messages(many_conversations(channel, 10))
    start_sender()
    until(lambda: meta.ledger()["sent_total"], what="the first message")
    wait_for_a_round(SenderRun)

    assert meta.ledger()["sent_total"] == 1
    until(lambda: QueuedMessage.objects.filter(is_ready=True, tries=0, run=None).count() == 9, what="the others")


def test_a_stop_that_is_over_lets_messages_go(
    meta: RunningSandbox, channel: Channel, page: Channel, start_sender: StartSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No time is told here, so ours holds, which is short."""
    monkeypatch.setattr(brakes_module, "STOPS", (0.5,))
    start_sender()
    use_up(meta, channel, "4")

    assert ended(a_message(a_conversation(page))).status == "sent"


# Of the brakes alone ------------------------------------------------------------------------------------


def gone(limits: SendingLimits, clock: Clock, seconds: float, *, is_urgent: bool = False, channel: int = 1) -> int:
    """How many messages go in that time, as far as brakes let them."""
    total = 0
    for _ in range(round(seconds * 20)):
        number = min([10, *(limits.brakes.room(one, is_urgent=is_urgent) for one in limits.brakes_of(channel))])
        if number > 0:
            limits.start(channel=channel, agency=1, platform="whatsapp", account=str(channel), number=number)
            limits.finish(channel=channel, agency=1, number=number)
            total += number
        clock.now += 0.05
        limits.tick()
    return total


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limits(clock: Clock) -> SendingLimits:
    """Of somebody who sends two hundred a second over a channel, and as many over another account's."""
    limits = SendingLimits(rates=None, clock=clock)
    for channel in (1, 2):
        assert gone(limits, clock, 2, channel=channel) == 400
    return limits


def test_the_more_is_used_the_less_goes(limits: SendingLimits, clock: Clock) -> None:
    limits.brakes.slow_to("1", 0.5)
    assert 60 <= gone(limits, clock, 1) <= 100
    limits.brakes.slow_to("1", 0.25)
    assert 40 <= gone(limits, clock, 1) <= 60
    assert gone(limits, clock, 1, channel=2) == 200


def test_after_a_stop_it_goes_on_gently_and_comes_back(limits: SendingLimits, clock: Clock) -> None:
    limits.brakes.stop("1", 60.0)
    assert gone(limits, clock, 59) == 0
    clock.now += 1
    assert 10 <= gone(limits, clock, 1) <= 25
    seconds = 0.0
    while limits.brakes_of(1):
        seconds += CLEAN_SECONDS
        clock.now += CLEAN_SECONDS
        limits.tick()
    assert 120 <= seconds <= 300
    assert gone(limits, clock, 1) == 200


def test_urgent_messages_go_first(limits: SendingLimits, clock: Clock) -> None:
    """They have taken what there is, so nothing is left for the others."""
    limits.brakes.stop("1", 1.0)
    clock.now += 1
    urgent = others = 0
    for _ in range(100):
        urgent += gone(limits, clock, 0.05, is_urgent=True)
        others += gone(limits, clock, 0.0001) if limits.brakes.room("1", is_urgent=False) > 0 else 0
    assert urgent >= 100
    assert others == 0


def test_stops_that_nobody_tells_the_time_of_grow_and_calls_that_were_out_together_count_once(clock: Clock) -> None:
    brakes = Brakes(clock)
    for seconds in (*STOPS, STOPS[-1]):
        for _ in range(30):
            brakes.stop(APP, 0.0)
        clock.now += seconds - 1
        assert brakes.is_stopped("any")
        clock.now += 1.5
        assert not brakes.is_stopped("any")


def test_channels_that_share_a_brake_share_what_it_leaves_of_one_claim(clock: Clock) -> None:
    limits = SendingLimits(rates=None, clock=clock)
    for channel, account in ((1, "one"), (2, "one"), (3, "another")):
        limits.start(channel=channel, agency=1, platform="whatsapp", account=account)
    limits.brakes.slow_to("one", 0.5)
    clock.now += 60
    rooms = RemainingCapacity(limits, (), is_urgent=True)
    left = rooms.of_channel(1)
    assert 0 < left == rooms.of_channel(2) < rooms.of_channel(3)
    rooms.reserve(1, left)
    assert rooms.of_channel(2) == 0
    assert rooms.of_channel(3) > 0

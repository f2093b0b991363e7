"""How much may be sent now, by rate, by what is out, and by whose turn it is."""

from channelconnect.sending.limits import (
    CLEAN_SECONDS,
    PER_AGENCY,
    PER_CHANNEL,
    PER_SLOW_CHANNEL,
    QUICK_CALLS,
    SendingLimits,
)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def sent_within(limits: SendingLimits, clock: Clock, seconds: float, *, channel: int = 1) -> int:
    """Send whatever is allowed, asking every 10 ms; each call ends at once."""
    total = 0
    for _ in range(round(seconds * 100)):
        for _ in range(limits.rooms().get(channel, 1)):
            limits.start(channel=channel, agency=1, platform="whatsapp")
            limits.finish(channel=channel, agency=1, was_slow=False)
            total += 1
        clock.now += 0.01
    return total


def test_no_second_has_more_than_eighty_messages_of_a_number() -> None:
    clock = Clock()
    limits = SendingLimits(clock=clock)
    sent_within(limits, clock, 0.1)
    clock.now += 30
    seconds = [sent_within(limits, clock, 1.0) for _ in range(5)]
    assert max(seconds) <= 80
    assert min(seconds) >= 65


def test_a_number_that_sends_too_fast_is_halved_and_recovers() -> None:
    clock = Clock()
    limits = SendingLimits(clock=clock)
    sent_within(limits, clock, 1.0)
    limits.slow_down(1)
    assert 25 <= sent_within(limits, clock, 1.0) <= 36
    limits.slow_down(1)
    assert 12 <= sent_within(limits, clock, 1.0) <= 18
    for _ in range(20):
        clock.now += CLEAN_SECONDS
        limits.rooms()
    assert sent_within(limits, clock, 1.0) >= 65


def test_a_channel_that_does_not_answer_gets_few_at_once_and_holds_up_nobody() -> None:
    clock = Clock()
    limits = SendingLimits(rates=None, clock=clock)
    for _ in range(PER_CHANNEL):
        limits.start(channel=1, agency=1, platform="whatsapp")
    limits.start(channel=2, agency=2, platform="whatsapp")
    assert (limits.rooms()[1], limits.rooms()[2]) == (0, PER_CHANNEL - 1)
    for _ in range(PER_CHANNEL):
        limits.mark_slow(1)
    assert limits.batch(10_000) == QUICK_CALLS - 1
    for _ in range(PER_CHANNEL - 1):
        limits.finish(channel=1, agency=1, was_slow=True)
    assert limits.rooms()[1] == PER_SLOW_CHANNEL - 1
    assert limits.agency_rooms() == {1: PER_AGENCY - 1, 2: PER_AGENCY - 1}

"""How much may be sent now, by rate, by what is out, and by whose turn it is."""

from channelconnect.sending.limits import (
    BUSINESS_APP,
    CLEAN_SECONDS,
    PER_AGENCY,
    PER_FAST_CHANNEL,
    PER_SLOW_CHANNEL,
    QUICK_CALLS,
    SendingLimits,
)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def sent_within(limits: SendingLimits, clock: Clock, seconds: float, *, throughput: str = "") -> int:
    """Send whatever is allowed, asking every 10 ms; each call ends at once."""
    total = 0
    for _ in range(round(seconds * 100)):
        for _ in range(limits.room(1)):
            limits.start(channel=1, agency=1, platform="whatsapp", throughput=throughput)
            limits.finish(channel=1, agency=1)
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
        limits.tick()
    assert sent_within(limits, clock, 1.0) >= 65


def test_no_second_has_more_than_twenty_messages_of_a_number_that_stays_in_the_business_app() -> None:
    clock = Clock()
    limits = SendingLimits(clock=clock)
    sent_within(limits, clock, 0.1, throughput=BUSINESS_APP)
    clock.now += 30
    seconds = [sent_within(limits, clock, 1.0, throughput=BUSINESS_APP) for _ in range(5)]
    assert max(seconds) <= 20
    assert min(seconds) >= 16


def test_a_number_with_high_throughput_has_its_thousand() -> None:
    clock = Clock()
    limits = SendingLimits(clock=clock)
    sent_within(limits, clock, 0.1, throughput="HIGH")
    clock.now += 30
    seconds = [sent_within(limits, clock, 1.0, throughput="HIGH") for _ in range(3)]
    assert max(seconds) <= 1_000
    assert min(seconds) >= 850
    # What the provider tells is followed from the next message on, down as well.
    sent_within(limits, clock, 0.1)
    clock.now += 30
    assert sent_within(limits, clock, 1.0) <= 80


def start(limits: SendingLimits, channel: int, calls: int, *, agency: int = 1, is_urgent: bool = False) -> None:
    for _ in range(calls):
        limits.start(channel=channel, agency=agency, platform="whatsapp", is_urgent=is_urgent)


def test_a_channel_that_does_not_answer_gets_few_at_once_and_holds_up_nobody() -> None:
    clock = Clock()
    limits = SendingLimits(rates=None, clock=clock)
    start(limits, 1, PER_FAST_CHANNEL, is_urgent=True)
    start(limits, 2, 1, agency=2, is_urgent=True)
    assert (limits.room(1), limits.room(2)) == (0, PER_FAST_CHANNEL - 1)
    assert limits.batch(10_000) == QUICK_CALLS - PER_FAST_CHANNEL - 1
    for _ in range(PER_FAST_CHANNEL):
        limits.mark_slow(1)
    assert limits.batch(10_000) == QUICK_CALLS - 1
    for _ in range(PER_FAST_CHANNEL - 1):
        limits.unmark_slow(1)
        limits.finish(channel=1, agency=1)
    assert limits.room(1) == PER_SLOW_CHANNEL - 1
    assert (limits.agency_room(1), limits.agency_room(2)) == (PER_AGENCY - 1, PER_AGENCY - 1)


def test_a_mass_leaves_a_tenth_of_every_limit_to_urgent_messages() -> None:
    clock = Clock()
    limits = SendingLimits(clock=clock)
    start(limits, 1, 1)
    clock.now += 1
    for urgent, room in ((True, 10), (False, 9)):
        assert limits.room(1, is_urgent=urgent) == room
    clock.now += 1
    limits = SendingLimits(rates=None, clock=clock)
    start(limits, 1, 460)
    assert (limits.room(1, is_urgent=False), limits.room(1)) == (0, 52)
    assert (limits.agency_room(1, is_urgent=False), limits.agency_room(1)) == (0, 52)
    start(limits, 2, 461, agency=2)
    assert (limits.batch(10_000, is_urgent=False), limits.batch(10_000)) == (0, 103)


def test_urgent_messages_find_room_on_a_channel_whose_mass_has_become_slow() -> None:
    limits = SendingLimits(rates=None, clock=Clock())
    start(limits, 1, 460)
    for _ in range(460):
        limits.mark_slow(1)
    assert (limits.room(1, is_urgent=False), limits.room(1)) == (0, 1)
    start(limits, 1, 1, is_urgent=True)
    assert limits.room(1) == 0

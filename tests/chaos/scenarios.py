"""The faults, one scenario each: a seeded hand breaks things while events are delivered."""

import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from django.db import connection

from config.celery import app
from config.redis import RedisAway, attempt
from tests.chaos.limits import LimitReached, limited_to
from tests.chaos.receiver import Ledger
from tests.chaos.stage import Stage, start, stop
from tests.chaos.story import Outcome, Story

VICTIMS = ("child", "child", "parent", "beat")


def kills(story: Story, hand: random.Random, deliveries: int) -> None:
    """kill -9 of the dispatcher's child, of its parent, with which the child goes, or of beat, at random."""
    stage, killed = story.stage, dict.fromkeys(VICTIMS, 0)
    stage.hire("dispatcher", "beat")
    story.record_many(deliveries)
    while story.goes_on():
        story.rest(hand.uniform(0.5, 2.0))
        victim = hand.choice(VICTIMS)
        if story.undelivered() and stage.kill(victim):
            killed[victim] += 1
            if victim != "beat":
                story.excuse()
    told = ", ".join(f"{victim} {times}" for victim, times in killed.items())
    story.notes.append(f"{sum(killed.values())} kills ({told})")


def frozen(story: Story, hand: random.Random, deliveries: int) -> None:
    """A dispatcher stopped in the middle for longer than its leases last; another takes over; then it comes back."""
    stage, seconds = story.stage, 27
    stage.hire("dispatcher", "beat")
    story.record_many(deliveries // 4)
    story.goes_on()
    story.rest(hand.uniform(0.2, 0.8))
    with stage.freeze(stage.child_of("dispatcher"), seconds):
        story.excuse()
        stage.hire("dispatcher-2")
        story.rest(seconds + 1)
    story.notes.append(f"stopped for {seconds} s, the leases last 20 s")


def doubles(story: Story, hand: random.Random, deliveries: int) -> None:
    """Two beats, three dispatchers, and every task sent many times."""
    story.stage.hire("dispatcher", "dispatcher-2", "dispatcher-3", "beat", "beat-2")
    sent = 0
    for _ in range(10):
        story.record_many(deliveries // 20)
        for _ in range(hand.randint(1, 20)):
            app.send_task("webhooks.deliver", queue="dispatcher", expires=5)
            sent += 1
        story.rest(0.5)
    story.notes.append(f"two beats, three dispatchers, {sent} more tasks")


def restarts(story: Story, hand: random.Random, deliveries: int) -> None:
    """PostgreSQL shut down in order and started again, under two dispatchers."""
    _break_postgres(story, hand, signal.SIGINT, deliveries // 8)


def crashes(story: Story, hand: random.Random, deliveries: int) -> None:
    """PostgreSQL stopped at once and started again: what was not on the disk yet is forgotten."""
    _break_postgres(story, hand, signal.SIGQUIT, deliveries // 8)


def _break_postgres(story: Story, hand: random.Random, ending: signal.Signals, backlog: int) -> None:
    stage, returns = story.stage, []
    stage.hire("dispatcher", "dispatcher-2", "beat")
    for _ in range(4):
        story.record_many(backlog)
        story.goes_on()
        story.trickle(hand.uniform(0.1, 1.0))
        _restart_postgres(story, ending, away=hand.uniform(0.2, 8.0))
        back_at = time.monotonic()
        story.goes_on()
        returns.append(time.monotonic() - back_at)
    story.trickle(2)
    story.notes.append(f"four times away for up to 8 s, going on {max(returns):.1f} s after it was back")


def _restart_postgres(story: Story, ending: signal.Signals, *, away: float) -> None:
    stop(story.stage.postgres, ending)
    with story.excusing():
        story.rest(away)
        start(story.stage.postgres)


def redis(story: Story, hand: random.Random, deliveries: int) -> None:
    """Redis flushed, frozen, then killed and down for a minute, in the midst of which PostgreSQL crashes."""
    stage = story.stage
    stage.hire("dispatcher", "beat")
    story.trickle(5)
    for _ in range(5):
        with suppress(RedisAway):
            attempt(lambda redis: redis.flushall())
        story.trickle(hand.uniform(0.2, 1.0))
    assert stage.valkey.process is not None
    with stage.freeze(stage.valkey.process.pid, 10):
        story.trickle(11)
    stop(stage.valkey, signal.SIGKILL)
    story.trickle(20)
    _restart_postgres(story, signal.SIGQUIT, away=2)
    story.trickle(38)
    start(stage.valkey)
    story.trickle(5)
    if stage.kill("child"):
        story.excuse()
    story.trickle(3)
    story.notes.append(
        "flushed, frozen for 10 s, down for a minute with a crash of PostgreSQL, a dispatcher killed after"
    )


@dataclass(frozen=True)
class Scenario:
    """`delay` is what the receiver takes for an answer; `seconds` is the longest that it may last."""

    script: Callable[[Story, random.Random, int], None]
    delay: float
    seconds: int

    def play(self, stage: Stage, hand: random.Random, deliveries: int) -> Outcome:
        with Ledger(self.delay) as ledger:
            story = Story(stage, ledger)
            try:
                with limited_to(self.seconds):
                    self.script(story, hand, deliveries)
                    story.wait()
            except LimitReached:
                connection.close()  # it may be in the midst of a query
                story.faults.append(f"stopped at its limit of {self.seconds} s")
            outcome = story.count()
            story.faults += [f"{name} did not end by itself" for name in stage.dismiss()]
            return outcome


SCENARIOS = {
    "kills": Scenario(kills, 0.1, 150),
    "frozen": Scenario(frozen, 0.1, 80),
    "doubles": Scenario(doubles, 0.005, 90),
    "restarts": Scenario(restarts, 0.05, 80),
    "crashes": Scenario(crashes, 0.05, 80),
    "redis": Scenario(redis, 0.005, 150),
}

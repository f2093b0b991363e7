"""The faults, one scenario each: things break in a seeded order while events are delivered."""

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
from tests.chaos.receiver import CountingReceiver
from tests.chaos.system import System
from tests.chaos.workload import Outcome, Workload

VICTIMS = ("child", "child", "parent", "beat")


def kills(workload: Workload, rng: random.Random, deliveries: int) -> None:
    """kill -9 of the dispatcher's child, of its parent, with which the child goes, or of beat, at random."""
    system, killed = workload.system, dict.fromkeys(VICTIMS, 0)
    system.start_workers("dispatcher", "beat")
    workload.record_many(deliveries)
    while workload.goes_on():
        workload.rest(rng.uniform(0.5, 2.0))
        victim = rng.choice(VICTIMS)
        if workload.undelivered() and system.kill(victim):
            killed[victim] += 1
            if victim != "beat":
                workload.excuse()
    counts = ", ".join(f"{victim} {times}" for victim, times in killed.items())
    workload.notes.append(f"{sum(killed.values())} kills ({counts})")


def frozen(workload: Workload, rng: random.Random, deliveries: int) -> None:
    """A dispatcher stopped in the middle for longer than its leases last; another takes over; then it comes back."""
    system, seconds = workload.system, 27
    system.start_workers("dispatcher", "beat")
    workload.record_many(deliveries // 4)
    workload.goes_on()
    workload.rest(rng.uniform(0.2, 0.8))
    with system.freeze(system.child_of("dispatcher"), seconds):
        workload.excuse()
        system.start_workers("dispatcher-2")
        workload.rest(seconds + 1)
    workload.notes.append(f"stopped for {seconds} s, the leases last 20 s")


def doubles(workload: Workload, rng: random.Random, deliveries: int) -> None:
    """Two beats, three dispatchers, and every task sent many times."""
    workload.system.start_workers("dispatcher", "dispatcher-2", "dispatcher-3", "beat", "beat-2")
    sent = 0
    for _ in range(10):
        workload.record_many(deliveries // 20)
        for _ in range(rng.randint(1, 20)):
            app.send_task("webhooks.deliver", queue="dispatcher", expires=5)
            sent += 1
        workload.rest(0.5)
    workload.notes.append(f"two beats, three dispatchers, {sent} more tasks")


def restarts(workload: Workload, rng: random.Random, deliveries: int) -> None:
    """PostgreSQL shut down in order and started again, under two dispatchers."""
    _break_postgres(workload, rng, signal.SIGINT, deliveries // 8)


def crashes(workload: Workload, rng: random.Random, deliveries: int) -> None:
    """PostgreSQL stopped at once and started again: what was not on the disk yet is forgotten."""
    _break_postgres(workload, rng, signal.SIGQUIT, deliveries // 8)


def _break_postgres(workload: Workload, rng: random.Random, ending: signal.Signals, backlog: int) -> None:
    system, returns = workload.system, []
    system.start_workers("dispatcher", "dispatcher-2", "beat")
    for _ in range(4):
        workload.record_many(backlog)
        workload.goes_on()
        workload.trickle(rng.uniform(0.1, 1.0))
        _restart_postgres(workload, ending, away=rng.uniform(0.2, 8.0))
        back_at = time.monotonic()
        workload.goes_on()
        returns.append(time.monotonic() - back_at)
    workload.trickle(2)
    workload.notes.append(f"four times away for up to 8 s, going on {max(returns):.1f} s after it was back")


def _restart_postgres(workload: Workload, ending: signal.Signals, *, away: float) -> None:
    workload.system.postgres.stop(ending)
    with workload.excusing():
        workload.rest(away)
        workload.system.postgres.start()


def redis(workload: Workload, rng: random.Random, deliveries: int) -> None:
    """Redis flushed, frozen, then killed and down for a minute, in the midst of which PostgreSQL crashes."""
    system = workload.system
    system.start_workers("dispatcher", "beat")
    workload.trickle(5)
    for _ in range(5):
        with suppress(RedisAway):
            attempt(lambda redis: redis.flushall())
        workload.trickle(rng.uniform(0.2, 1.0))
    assert system.valkey.process is not None
    with system.freeze(system.valkey.process.pid, 10):
        workload.trickle(11)
    system.valkey.stop(signal.SIGKILL)
    workload.trickle(20)
    _restart_postgres(workload, signal.SIGQUIT, away=2)
    workload.trickle(38)
    system.valkey.start()
    workload.trickle(5)
    if system.kill("child"):
        workload.excuse()
    workload.trickle(3)
    workload.notes.append(
        "flushed, frozen for 10 s, down for a minute with a crash of PostgreSQL, a dispatcher killed after"
    )


@dataclass(frozen=True)
class Scenario:
    """`delay` is what the receiver takes for an answer; `seconds` is the longest that it may last."""

    script: Callable[[Workload, random.Random, int], None]
    delay: float
    seconds: int

    def play(self, system: System, rng: random.Random, deliveries: int) -> Outcome:
        with CountingReceiver(self.delay) as receiver:
            workload = Workload(system, receiver)
            try:
                with limited_to(self.seconds):
                    self.script(workload, rng, deliveries)
                    workload.wait()
            except LimitReached:
                connection.close()  # it may be in the midst of a query
                workload.faults.append(f"stopped at its limit of {self.seconds} s")
            outcome = workload.count()
            workload.faults += [f"{name} did not end by itself" for name in system.stop_workers()]
            return outcome


SCENARIOS = {
    "kills": Scenario(kills, 0.1, 150),
    "frozen": Scenario(frozen, 0.1, 80),
    "doubles": Scenario(doubles, 0.005, 90),
    "restarts": Scenario(restarts, 0.05, 80),
    "crashes": Scenario(crashes, 0.05, 80),
    "redis": Scenario(redis, 0.005, 150),
}

"""PostgreSQL and Redis that die, fall silent or forget."""

from tests.chaos.faults import postgres, processes, redis
from tests.chaos.outcome import Limits
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.workload import Workload


def crashes(workload: Workload) -> None:
    """PostgreSQL stopped in order, at once and by kill -9, and single backends killed, under two dispatchers."""
    ways = [*postgres.STOPS, *postgres.STOPS, "backend", "backend"]
    workload.rng.shuffle(ways)
    workload.injections.plan("kill of a backend" if way == "backend" else way for way in ways)
    for way in ways:
        workload.rest(workload.rng.uniform(0.1, 1.0))
        if way == "backend":
            postgres.kill_backend(workload)
        else:
            postgres.stop(workload, way, away=workload.rng.uniform(0.2, 6.0))
    workload.rest(2)


def silence(workload: Workload) -> None:
    """A network to PostgreSQL that passes no bytes for 15 s, and one that resets all connections."""
    workload.injections.plan(["silent PostgreSQL", "reset of PostgreSQL's connections"])
    if workload.has_traffic():
        with postgres.silent(workload):
            workload.rest(15)
    postgres.reset(workload)
    workload.rest(2)


def without_redis(workload: Workload) -> None:
    """Redis flushed, frozen, silent, reset, then killed and down for 20 s, in which PostgreSQL crashes."""
    workload.injections.plan(["flush of Redis"] * 3)
    workload.injections.plan(["frozen Redis", "silent Redis", "reset of Redis' connections", "kill of Redis"])
    workload.injections.plan(["immediate stop", "kill of dispatcher child"])
    for _ in range(3):
        redis.flush(workload)
        workload.rest(workload.rng.uniform(0.2, 1.0))
    redis.freeze(workload, 8)
    redis.fall_silent(workload, 8)
    redis.reset(workload, 3)

    def meanwhile() -> None:
        workload.rest(8)
        postgres.stop(workload, "immediate stop", away=2)
        workload.rest(10)

    redis.kill(workload, meanwhile)
    workload.rest(3)
    processes.kill(workload, "dispatcher child")
    workload.rest(3)


DEPENDENCIES = {
    "crashes": Scenario(crashes, 240, odd=0.01, more=("dispatcher-2",)),
    "silence": Scenario(silence, 150, limits=Limits(pause=40.0), through_proxies=True),
    "redis": Scenario(without_redis, 200, through_proxies=True),
}

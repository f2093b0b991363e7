"""Short scenarios: what CI plays, and what each mutation has to be noticed by."""

from collections.abc import Callable

from tests.chaos.faults import clocks, postgres, processes, redis
from tests.chaos.outcome import Limits
from tests.chaos.scenarios.callers import half_bodies, look_at_mail, poison, prepare_mail
from tests.chaos.scenarios.machines import PRELOADED, own_clocks
from tests.chaos.scenarios.receivers import failing
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.workload import Workload


def quiet(workload: Workload) -> None:
    """No fault but tasks sent twice."""
    workload.injections.plan(["doubled tasks"])
    processes.send_every_task(workload)
    workload.rest(2)


def killed(workload: Workload) -> None:
    _kill(workload, "dispatcher child", "dispatcher child")


def web_killed(workload: Workload) -> None:
    _kill(workload, "web", "web", "web")


def _kill(workload: Workload, *victims: str) -> None:
    workload.injections.plan(f"kill of {victim}" for victim in victims)
    for victim in victims:
        workload.rest(1)
        processes.kill(workload, victim)
    workload.rest(1)


def crashed(workload: Workload) -> None:
    workload.injections.plan(["kill of the postmaster"] * 2)
    workload.system.servers.execute("CHECKPOINT")  # what the clients are told counts, not their own set-up
    for _ in range(2):
        workload.rest(3)
        postgres.stop(workload, "kill of the postmaster", away=0.2)


def poisoned(workload: Workload) -> None:
    workload.injections.plan(["poisoned fan-out"])
    poison(workload, endpoints=500, events=200, seconds=12)


def everything(workload: Workload) -> None:
    """Each kind of fault once, in a seeded order, while mail hangs and clocks are wrong."""
    kinds: dict[str, Callable[[], None]] = {
        "kill of dispatcher child": lambda: processes.kill(workload, "dispatcher child"),
        "kill of web child": lambda: processes.kill(workload, "web child"),
        "kill of worker": lambda: processes.kill(workload, "worker"),
        "kill of beat": lambda: processes.kill(workload, "beat"),
        "kill of a backend": lambda: postgres.kill_backend(workload),
        "kill of the postmaster": lambda: postgres.stop(workload, "kill of the postmaster", away=0.5),
        "reset of PostgreSQL's connections": lambda: postgres.reset(workload),
        "flush of Redis": lambda: redis.flush(workload),
        "silent Redis": lambda: redis.fall_silent(workload, 1),
        "doubled tasks": lambda: processes.send_every_task(workload),
        "half bodies held": lambda: half_bodies(workload, count=32, seconds=1),
        "poisoned fan-out": lambda: poison(workload, endpoints=60, events=8, seconds=3),
    }
    order = list(kinds)
    workload.rng.shuffle(order)
    workload.injections.plan(order)
    workload.injections.plan(["wrong clock"] * len(CLOCKS))
    for number, kind in enumerate(order):
        if number == len(order) // 2:
            workload.arrivals.behaviour.stop_failing()  # the last retry has come when the other half is over
        kinds[kind]()
        workload.rest(0.3)
    clocks.count_skewed(workload, len(CLOCKS))
    look_at_mail(workload)


# No web process dies, so one is enough. A dispatcher starts by itself, so beat is not needed.
QUIET = Scenario(
    quiet, 270, volume=50, agencies=2, only=("web", "dispatcher"), smaller={"web": ("--workers", "1")}, are_forked=True
)
KILLED = Scenario(killed, 270, delay=0.2, agencies=2)
WEB_KILLED = Scenario(web_killed, 270, volume=20, agencies=2)
CRASHED = Scenario(crashed, 300, volume=100, agencies=2)
CROWDED = Scenario(quiet, 270, delay=0.5, volume=400, most=3_000, agencies=2, more=("dispatcher-2",))
FAILING = Scenario(failing, 360, volume=50, agencies=2)
POISONED = Scenario(poisoned, 360, volume=50, agencies=2, limits=Limits(wait=10.0))
CLOCKS = {"beat": -5, "dispatcher": 5}
# How long anything takes is judged by the scenarios of full size, on a machine that does nothing else.
HOWEVER_LONG = Limits(pause=300.0, call=30.0, wait=300.0)
EVERYTHING = Scenario(
    everything,
    900,
    limits=HOWEVER_LONG,
    rate=2.0,
    volume=20,
    agencies=2,
    odd=0.03,
    clock_off=10.0,
    through_proxies=True,
    prepare=prepare_mail,
    only=("web", "worker", "mail", "dispatcher", "beat"),
    smaller={"worker": ("-c", "6")},  # three of its tasks never end; the others take turns
    variables=PRELOADED,
    own=own_clocks(CLOCKS),
    are_forked=True,
)
SHORT = {"short": EVERYTHING}
# What the mutations are played under; without one they hold.
CONTROLS = {
    "quiet": QUIET,
    "killed": KILLED,
    "web-killed": WEB_KILLED,
    "crashed": CRASHED,
    "crowded": CROWDED,
    "failing": FAILING,
    "poisoned": POISONED,
}

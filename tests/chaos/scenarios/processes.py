"""Processes that die, hang, or are there twice."""

from tests.chaos.faults import processes
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.workload import Workload

KILLED = ("dispatcher child", "dispatcher child", "dispatcher", "beat", "worker child", "worker", "web child", "web")


def kills(workload: Workload) -> None:
    """kill -9 of every kind of process, in a seeded order."""
    victims = [*KILLED, *workload.rng.choices(KILLED, k=8)]
    workload.rng.shuffle(victims)
    workload.injections.plan(f"kill of {victim}" for victim in victims)
    for victim in victims:
        workload.rest(workload.rng.uniform(0.5, 2.0))
        processes.kill(workload, victim)
    workload.rest(2)


def frozen(workload: Workload) -> None:
    """A dispatcher stopped for longer than its leases last; another takes over; then the first comes back."""
    workload.injections.plan(["frozen dispatcher"])
    processes.freeze_dispatcher(workload, 27)
    workload.rest(2)


def doubles(workload: Workload) -> None:
    """Two beats, two workers, three dispatchers, and every task sent many times."""
    rounds = 10
    workload.injections.plan(["doubled tasks"] * rounds)
    for _ in range(rounds):
        processes.send_every_task(workload)
        workload.rest(workload.rng.uniform(0.5, 1.5))


DOUBLED = ("dispatcher-2", "dispatcher-3", "beat-2", "worker-2")
PROCESSES = {
    "kills": Scenario(kills, 240, delay=0.1, odd=0.01),
    "frozen": Scenario(frozen, 150, delay=0.1),
    "doubles": Scenario(doubles, 120, delay=0.02, odd=0.01, more=DOUBLED),
}

"""What every scenario is: a system, a load on it, a script of faults, and a count at the end."""

import random
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from django.db import connection

from tests.chaos.counting import count
from tests.chaos.limits import LimitReached, limited_to
from tests.chaos.outcome import Limits, Outcome
from tests.chaos.receiver.behaviour import Behaviour
from tests.chaos.system.system import Servers, running_system
from tests.chaos.workload import Workload

WARM_UP_SECONDS = 30.0


class Skipped(Exception):
    """A scenario that cannot be played on this machine; the text says why."""


@dataclass(frozen=True)
class Scenario:
    """`seconds` is the longest that it may last, `delay` what receivers take for an answer.

    `rate` is how many calls a second each client makes at most, `volume` how many events a second come beside those,
    `odd` the share of deliveries whose first attempt fails or is slow. `variables` are environment variables of all
    processes, `own` those of single ones. The processes are all of the plan, or `only` these, and `more`; `smaller` are
    arguments that give one fewer processes than in the plan. With `are_forked` they do not load the product anew when
    they start. `prepare` is called before they start. Unless it `waits`, it ends with its script, whatever is still to
    come.
    """

    script: Callable[[Workload], None]
    seconds: int
    delay: float = 0.05
    agencies: int = 4
    clients: int = 2
    rate: float = 6.0
    volume: float = 300.0
    most: int = 20_000
    odd: float = 0.0
    patience: float = 45.0
    clock_off: float = 0.0
    limits: Limits = field(default_factory=Limits)
    only: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    through_proxies: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    smaller: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prepare: Callable[[Workload, ExitStack], Mapping[str, str]] | None = None
    waits: bool = True
    are_forked: bool = False

    def play(self, servers: Servers, name: str, seed: int, variables: Mapping[str, str] | None = None) -> Outcome:
        """Play it on servers that run; `variables` are added to the product's environment."""
        rng = random.Random(f"{seed} {name}")
        with ExitStack() as stack:
            system = stack.enter_context(running_system(servers, name))
            workload = Workload(system, Behaviour(f"{seed} {name}", odd=self.odd), self.delay, rng, stack)
            workload.arrivals.clock_off, workload.patience = self.clock_off, self.patience
            stack.enter_context(workload.receiver)
            try:
                with limited_to(self.seconds):
                    self._run(workload, stack, variables or {})
            except Skipped as reason:
                return Outcome(skipped=str(reason))
            except LimitReached:
                connection.close()  # it may be in the midst of a query
                workload.wrong.append(f"stopped at its limit of {self.seconds} s")
            return self._outcome(workload)

    def _run(self, workload: Workload, stack: ExitStack, variables: Mapping[str, str]) -> None:
        prepared = self.prepare(workload, stack) if self.prepare else {}
        workload.system.configure({**self.variables, **prepared, **variables}, through_proxies=self.through_proxies)
        workload.system.processes.own.update(self.own)
        workload.system.processes.smaller.update(self.smaller)
        workload.system.processes.are_forked = self.are_forked
        workload.system.processes.start(*(self.only or workload.system.processes.names), *self.more)
        workload.system.wait_for_web()
        options = {"agencies": self.agencies, "clients": self.clients, "most": self.most}
        with workload.at_work(rate=self.rate, volume=self.volume, **options):
            workload.warm_up(WARM_UP_SECONDS)
            self.script(workload)
        if self.waits:
            workload.wait()

    def _outcome(self, workload: Workload) -> Outcome:
        outcome = count(workload, self.limits)
        if workload.returns:
            seconds, what = max(workload.returns)
            outcome.notes.append(f"going on {seconds:.1f} s after {what}")
        late = workload.system.processes.stop()
        outcome.wrong += [f"{name} did not end by itself" for name in late]
        return outcome

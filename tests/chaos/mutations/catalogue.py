"""Every mutation: what is broken, under which scenario, and by what it has to give itself away."""

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace

from tests.chaos.mutations.patches import PATCHES
from tests.chaos.mutations.triggers import TRIGGERS, create
from tests.chaos.outcome import Outcome
from tests.chaos.scenarios import broadcasts, consent, conversations, recovered, short
from tests.chaos.scenarios.broadcasts import BroadcastScenario
from tests.chaos.scenarios.machines import PRELOADED
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.system.system import Servers, System
from tests.chaos.workload import Workload

FORGETFUL = {"synchronous_commit": "off", "wal_writer_delay": "10s", "wal_writer_flush_after": "1GB"}


def says(*words: str) -> Callable[[Outcome], bool]:
    """Whether one of the sentences of what is wrong has these words."""
    return lambda outcome: any(word in sentence for sentence in outcome.wrong for word in words)


def loses(outcome: Outcome) -> bool:
    return outcome.lost > 0


def either(*signs: Callable[[Outcome], bool]) -> Callable[[Outcome], bool]:
    return lambda outcome: any(sign(outcome) for sign in signs)


@dataclass(frozen=True)
class Mutation:
    """`evidence` is what the instrument has to find: that it is BROKEN for another reason is not enough.

    Where the first arrivals have it, nothing that is still to come is waited for.
    """

    title: str
    scenario: Scenario
    evidence: Callable[[Outcome], bool]
    waits: bool = True

    def play(self, servers: Servers, name: str, seed: int) -> tuple[str, Outcome]:
        """Give `caught`, `MISSED`, or `NOT APPLIED` where the product was not broken at all."""
        applied: list[str] = []

        def prepare(workload: Workload, stack: ExitStack) -> Mapping[str, str]:
            before: Mapping[str, str] = self.scenario.prepare(workload, stack) if self.scenario.prepare else {}
            stack.callback(lambda: applied.extend(path.name for path in workload.system.reports.iterdir()))
            return {**before, **_break(name, workload, stack)}

        outcome = replace(self.scenario, prepare=prepare, patience=8.0, waits=self.waits).play(
            servers, f"{name}-mutation", seed
        )
        was_applied = any(report.startswith("mutation-") for report in applied)
        if not was_applied or any(report.startswith("missing-") for report in applied):
            return "NOT APPLIED", outcome
        return ("caught" if not outcome.holds and self.evidence(outcome) else "MISSED"), outcome


def harms(outcome: Outcome) -> bool:
    """Whether somebody was sent to twice, or is lost."""
    return outcome.inexcusable > 0 or outcome.lost > 0


@dataclass(frozen=True)
class BroadcastMutation:
    """A mutation of sending; `evidence` as of others."""

    title: str
    scenario: BroadcastScenario
    evidence: Callable[[Outcome], bool] = harms
    forgets_commits: bool = False

    def play(self, servers: Servers, name: str, seed: int) -> tuple[str, Outcome]:
        """Give `caught`, `MISSED`, or `NOT APPLIED` where the product was not broken at all."""
        applied: list[str] = []

        def prepare(system: System, stack: ExitStack) -> Mapping[str, str]:
            stack.callback(lambda: applied.extend(path.name for path in system.reports.iterdir()))
            if self.forgets_commits:
                _forget_commits(system.servers, stack)
            return {**PRELOADED, "CHAOS_MUTATION": name, "PYTHONDONTWRITEBYTECODE": "1"}

        outcome = replace(self.scenario, prepare=prepare).play(servers, f"{name}-mutation", seed)
        was_applied = any(report.startswith("mutation-") for report in applied)
        if not was_applied or any(report.startswith("missing-") for report in applied):
            return "NOT APPLIED", outcome
        return ("caught" if self.evidence(outcome) else "MISSED"), outcome


def _break(name: str, workload: Workload, stack: ExitStack) -> dict[str, str]:
    """Break the product; gives the environment variables that its processes need for that."""
    if name in PATCHES:
        return {**PRELOADED, "CHAOS_MUTATION": name, "PYTHONDONTWRITEBYTECODE": "1"}
    if name in TRIGGERS:
        create(name)
    else:
        _forget_commits(workload.system.servers, stack)
    (workload.system.reports / f"mutation-{name}.{os.getpid()}").touch()
    return {}


def _forget_commits(servers: Servers, stack: ExitStack) -> None:
    """Let PostgreSQL answer before a commit is on the disk, and bring it there ten seconds later."""
    stack.callback(servers.execute, "SELECT pg_reload_conf()")
    for setting, value in FORGETFUL.items():
        servers.execute(f"ALTER SYSTEM SET {setting} = '{value}'")
        stack.callback(servers.execute, f"ALTER SYSTEM RESET {setting}")
    servers.postgres.stop()
    servers.postgres.start()
    if servers.execute("SHOW synchronous_commit") != [("off",)]:
        raise LookupError("synchronous_commit is still on")


MUTATIONS: dict[str, Mutation | BroadcastMutation] = {
    "commits": Mutation("answers before a commit is on the disk", short.CRASHED, loses),
    "leases": Mutation("deletes what a dead dispatcher had leased", short.KILLED, says("still pending")),
    "exclusive": Mutation("lets two dispatchers serve one endpoint", short.CROWDED, says("at once")),
    "unbounded": Mutation("fans out without a bound", short.POISONED, either(loses, says("waited"))),
    "records": Mutation("sends without writing it down", short.QUIET, says("still pending")),
    "retries": Mutation("never queues a retry", short.FAILING, says("still pending", "the log says")),
    "secret": Mutation("signs with another secret", short.QUIET, says("X-Svc-Signature"), waits=False),
    "bytes": Mutation("writes the body anew", short.QUIET, says("X-Svc-Signature"), waits=False),
    "early": Mutation("answers before the event is recorded", short.WEB_KILLED, loses),
    "sixteen": Mutation("sends sixteen at once to an endpoint", short.CROWDED, says("at once")),
    "requeued": BroadcastMutation("sends again what a dead sender held", broadcasts.KILLED),
    "passed-over": BroadcastMutation("frees no dead sender's rows that have moved", broadcasts.CLICKED),
    "uncounted": BroadcastMutation("counts nobody before a limit is known", broadcasts.LIMITED, says("were allowed")),
    "marked-late": BroadcastMutation("marks recipients when they were sent to", broadcasts.KILLED),
    "claims": BroadcastMutation("sends before the claim is on the disk", broadcasts.CRASHED, forgets_commits=True),
    "restored": BroadcastMutation("sends on from a restored database", recovered.RECOVERED["broadcast-dump"]),
    "reported": BroadcastMutation("sends again what the network has reported", conversations.MISLED),
    "overtaken": BroadcastMutation("lets an older word about opting out undo a newer one", consent.OVERTAKEN),
    "tenants": Mutation("delivers to another agency", short.QUIET, says("another owner's")),
}

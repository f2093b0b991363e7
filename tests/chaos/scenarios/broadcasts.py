"""A broadcast under way while its senders are killed, and PostgreSQL and Redis with them: nobody is sent to twice."""

import random
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from http.client import HTTPException
from typing import Any

import redis
from django.db import connection

from tests.chaos.limits import LimitReached, limited_to
from tests.chaos.outcome import Outcome
from tests.chaos.system.system import Servers, System, running_system
from tools.local.runner.supervisor import Child, python
from tools.sandbox.config import SandboxConfig
from tools.sandbox.server import RunningSandbox

SENDER = """
import django
django.setup()
from channelconnect.sending.loop import run_sender
run_sender(should_stop=lambda: False)
"""
CHILDREN = (
    Child("plain-sender", python("-c", SENDER)),
    Child("reader", python("-m", "tests.channelconnect.inbox.reader_process")),
)
SENDERS = ("plain-sender", "plain-sender-2")
# What one sender has out of each number at most, beside what it has just claimed.
MOST_UNKNOWN_EACH = 64
# So many are sent to before anybody knows a limit.
TOLD_AFTER = 30
SHORTEST, LONGEST = 0.3, 1.5
# So many may be killed for one that had somebody out.
MOST_KILLS_EACH = 5
# Others free what a dead sender had claimed three seconds after it was seen last.
NOTICED_SECONDS = 2.0
# So many rows are made in one transaction.
PART = 2_000
# What is known no more of is unknown for so long, as statuses may still be on their way.
SETTLING_SECONDS = 3.0


@dataclass(frozen=True, kw_only=True)
class BroadcastScenario:
    """A broadcast to so many `recipients` by two senders. Calls may fail as `faults` say.

    `most_unknown` is of how many nobody may know at the end whether they were sent to.
    """

    recipients: int
    seconds: int
    faults: tuple[Mapping[str, Any], ...] = ()
    statuses: str = "delivered"
    prepare: Callable[[System, ExitStack], Mapping[str, str]] | None = None

    @property
    def planned(self) -> int:
        raise NotImplementedError

    @property
    def most_unknown(self) -> int:
        return (self.planned + 1) * MOST_UNKNOWN_EACH

    def played_on(self, system: System, rng: random.Random) -> "PlayedBroadcast":
        raise NotImplementedError

    def play(self, servers: Servers, name: str, seed: int, variables: Mapping[str, str] | None = None) -> Outcome:
        with ExitStack() as stack:
            system = stack.enter_context(running_system(servers, name))
            played = self.played_on(system, random.Random(f"{seed} {name}"))
            prepared = self.prepare(system, stack) if self.prepare else {}
            try:
                with limited_to(self.seconds):
                    played.play({**prepared, **(variables or {})}, stack)
            except LimitReached:
                connection.close()
                played.outcome.wrong.append(f"stopped at its limit of {self.seconds} s")
                played.count()
        return played.outcome


@dataclass(frozen=True, kw_only=True)
class KilledBroadcast(BroadcastScenario):
    """`kills` of one of two senders, some tenths of a second to `longest` seconds into the work.

    `crash` says that half-way through PostgreSQL is killed and Redis emptied at once. Their portfolio may write to
    `limit` people a day: that is told when some have been written to, and lifted when nobody has room any more. With
    `clicks` both senders are killed each time, and links of those whom they had out followed just when others free
    them. With `kills_again` only kills of senders that had somebody out count.
    """

    kills: int
    crash: bool = True
    longest: float = LONGEST
    clicks: bool = False
    limit: int | None = None
    kills_again: bool = False

    @property
    def planned(self) -> int:
        return self.kills + self.crash

    def played_on(self, system: System, rng: random.Random) -> "PlayedBroadcast":
        return PlayedKills(self, system, rng)


class PlayedBroadcast:
    """A scenario at play; `play` breaks what it is to break."""

    def __init__(self, scenario: BroadcastScenario, system: System, rng: random.Random) -> None:
        self.scenario, self.system, self.rng = scenario, system, rng
        self.outcome = Outcome(planned=scenario.planned, told=scenario.recipients)
        processes = system.processes
        processes.plan = replace(processes.plan, children=(*processes.plan.children, *CHILDREN))
        meta = processes.plan.variables
        self.sandbox = RunningSandbox(meta["META_GRAPH_URL"], SandboxConfig.read(meta))

    def play(self, variables: Mapping[str, str], stack: ExitStack) -> None:
        raise NotImplementedError

    def begin(self, variables: Mapping[str, str]) -> None:
        """Start the system, with two broadcasts that no sender is at yet."""
        self.system.configure(variables)
        self.system.processes.start("web", "sandbox", "reader")
        self.system.wait_for_web()
        self.fill()

    def fill(self) -> None:
        """Two numbers of one portfolio, with a broadcast each."""
        from channelconnect.models import ChannelCredential
        from tests.broadcasts.sending.broadcasts import a_broadcast, add_recipients, people
        from tests.channelconnect.sending.messages import NUMBERS, a_channel
        from tests.factories import WorkspaceFactory

        self.sandbox.play(faults=list(self.scenario.faults), statuses=self.scenario.statuses, status_seconds=0.2)
        workspace = WorkspaceFactory.create()
        for number in NUMBERS:
            channel = a_channel(workspace, self.sandbox, external_id=number)
            ChannelCredential.objects.filter(channel=channel).update(portfolio_id="8001")
            broadcast, missing = a_broadcast(channel), self.scenario.recipients // len(NUMBERS)
            while missing:
                part = min(missing, PART)
                add_recipients(broadcast, people(channel, part))
                missing -= part

    def sent(self) -> int:
        with suppress(OSError, HTTPException):
            return int(self.sandbox.ledger()["sent_total"])
        return 0

    def wait_for_traffic(self, number: int = 5) -> None:
        before = self.sent()
        while self.sent() < before + number and self.waiting():
            self.system.processes.look_after()
            time.sleep(0.05)

    def waiting(self) -> int:
        from broadcasts.models import Recipient

        return Recipient.objects.filter(stage__in=(0, 1)).count()

    def let_end(self) -> None:
        """Wait until nobody waits to be sent to, then for statuses; whom none tells of is failed at last."""
        from broadcasts.models import Recipient, Stage

        while self.waiting():
            self.system.processes.look_after()
            time.sleep(0.1)
        time.sleep(SETTLING_SECONDS)
        unknown = Recipient.objects.filter(stage=Stage.UNKNOWN)
        self.outcome.notes.append(f"{unknown.count()} nobody knew of")
        with connection.cursor() as cursor:
            cursor.execute("UPDATE broadcasts_recipient SET due_at = now() WHERE stage = 2")
        while unknown.exists():
            self.system.processes.look_after()
            time.sleep(0.1)
        time.sleep(SETTLING_SECONDS)

    def count(self) -> None:
        """Hold the provider's ledger against the rows, and the rows against the counts."""
        from broadcasts.models import Broadcast, Recipient
        from broadcasts.models.recipients import callback_data_of
        from tests.broadcasts.sending.broadcasts import counts, rows_as_counts

        accepted: dict[str, int] = self.sandbox.ledger()["sent_by_opaque"]
        rows = {callback_data_of(*row[:2]): row[2:] for row in Recipient.objects.values_list(*COLUMNS)}
        failed = [key for key, row in rows.items() if row[0] == "failed"]
        self.outcome.deliveries = sum(accepted.values())
        self.outcome.duplicates = self.outcome.inexcusable = sum(number - 1 for number in accepted.values())
        self.outcome.foreign = len(accepted.keys() - rows.keys())
        self.outcome.lost = sum(row[1] != 4 or row[0] in ("pending", "skipped") for row in rows.values())
        self.outcome.notes.append(
            f"{len(failed)} failed visibly, {len(set(failed) & accepted.keys())} of them accepted"
        )
        if {rows[key][2] for key in failed} - {"send_outcome_unknown"}:
            self.outcome.wrong.append("some failed for another reason")
        if [key for key, row in rows.items() if row[0] in ("sent", "delivered", "read") and key not in accepted]:
            self.outcome.wrong.append("some count as sent that never were")
        if len(failed) > self.scenario.most_unknown:
            self.outcome.wrong.append("more are unknown than the killed ones had out")
        for broadcast in Broadcast.objects.all():
            if counts(broadcast) != rows_as_counts(broadcast):
                self.outcome.wrong.append(f"counts {counts(broadcast)} of rows {rows_as_counts(broadcast)}")


class PlayedKills(PlayedBroadcast):
    def __init__(self, scenario: KilledBroadcast, system: System, rng: random.Random) -> None:
        super().__init__(scenario, system, rng)
        self._killing = scenario

    def play(self, variables: Mapping[str, str], stack: ExitStack) -> None:
        self.begin(variables)
        self.system.processes.start(*SENDERS)
        began, limit = time.monotonic(), self._killing.limit
        if limit is not None:
            self.wait_for_traffic(TOLD_AFTER)
            self._tell_limit(limit)
        for number in range(self._killing.kills):
            if self._killing.crash and number == self._killing.kills // 2:
                self._crash()
            self._kill()
        self.let_end()
        if limit is not None:
            self._count_people(limit)
            self._tell_limit(None)
            self.let_end()
        self.outcome.notes.append(f"{self.system.processes.restarts} restarts in {time.monotonic() - began:.0f} s")
        self.count()

    def _tell_limit(self, limit: int | None) -> None:
        from workspaces.subaccounts.models import Channel

        Channel.objects.update(messaging_limit=limit)
        while limit is None and self._held():
            self.system.processes.look_after()
            time.sleep(0.1)

    def _held(self) -> int:
        from broadcasts.models import Recipient, Stage

        return Recipient.objects.filter(stage=Stage.HELD).count()

    def _count_people(self, limit: int) -> None:
        """Hold the people whom the provider's ledger has against what the portfolio was allowed."""
        people = {one["to"] for one in self.sandbox.ledger()["sent"]}
        self.outcome.notes.append(f"{len(people)} people of {limit}, {self._held()} had no room")
        if len(people) > limit:
            self.outcome.wrong.append(f"{len(people)} people were written to, {limit} were allowed")

    def _kill(self) -> None:
        """Kill senders once, or until one had somebody out: one that had nobody to send to breaks nothing."""
        for _ in range(MOST_KILLS_EACH if self._killing.kills_again else 1):
            if self._kill_once() or not self.waiting():
                return

    def _kill_once(self) -> bool:
        from tests.broadcasts.sending.freed import dead_senders

        self.wait_for_traffic()
        time.sleep(self.rng.uniform(SHORTEST, self._killing.longest))
        victims = SENDERS if self._killing.clicks else (self.rng.choice(SENDERS),)
        before, had_work = dead_senders(), bool(self.waiting())
        killed = [victim for victim in victims if self.system.processes.kill(victim)]
        counts = bool(killed) and (self._had_out(but=before) if self._killing.kills_again else had_work)
        self.outcome.injected += counts
        if self._killing.clicks:
            self._click()
        self.system.processes.look_after()
        return counts

    def _had_out(self, *, but: set[int]) -> bool:
        """Say whether senders that were killed just now had claimed anything; PostgreSQL takes a moment to notice."""
        from tests.broadcasts.sending.freed import dead_senders

        until = time.monotonic() + NOTICED_SECONDS
        while not (found := self.held_by(dead_senders() - but)) and time.monotonic() < until:
            time.sleep(0.01)
        return found

    def held_by(self, runs: set[int]) -> bool:
        from broadcasts.models import Recipient

        return Recipient.objects.filter(run__in=runs, stage__in=(0, 1)).exists()

    def _click(self) -> None:
        """Follow links of those whom the killed senders had out, just when the next ones free them."""
        from tests.broadcasts.sending.freed import claimed_by_the_dead, clicked_while_freed

        if keys := claimed_by_the_dead(seconds=1.0):
            with clicked_while_freed(keys[::2]):
                self.system.processes.look_after()

    def _crash(self) -> None:
        """Kill PostgreSQL and empty Redis while messages are on their way."""
        self.wait_for_traffic()
        server = self.system.servers.postgres
        with redis.Redis.from_url(self.system.servers.valkey.url()) as client:
            server.stop(signal.SIGKILL)
            self.outcome.injected += bool(client.flushall()) and not server.is_running
        time.sleep(0.5)
        server.start()
        connection.close()
        while not server.answers():
            time.sleep(0.1)


COLUMNS = ("broadcast_id", "contact_id", "status", "stage", "error_code")
HANGS = ({"call": "send", "fault": "accept_then_hang", "every": 40, "seconds": 20},)
SELDOM_HANGS = ({"call": "send", "fault": "accept_then_hang", "every": 400, "seconds": 20},)
BROADCASTS = {
    "broadcast": KilledBroadcast(kills=10, recipients=2_000, seconds=420, faults=HANGS),
    # What one number sends in the time is what its throughput of 80 a second lets it.
    "broadcast-large": KilledBroadcast(kills=40, recipients=60_000, seconds=1_200, faults=SELDOM_HANGS, longest=16),
    "broadcast-clicked": KilledBroadcast(kills=4, recipients=2_000, seconds=300, faults=HANGS, clicks=True),
    "broadcast-limited": KilledBroadcast(kills=4, recipients=2_000, seconds=300, faults=HANGS, limit=1_200),
    "broadcast-silent": KilledBroadcast(kills=4, recipients=1_000, seconds=300, faults=HANGS, statuses="none"),
}
# Calls that are out when their sender is killed were accepted. No status settles them before another sender could send
# them once more.
OUT = ({"call": "send", "fault": "accept_then_hang", "every": 10, "seconds": 9},)
KILLED = KilledBroadcast(
    kills=2, recipients=800, seconds=200, crash=False, faults=OUT, statuses="none", kills_again=True
)
CRASHED = KilledBroadcast(kills=1, recipients=800, seconds=200, faults=OUT, statuses="none")
CLICKED = KilledBroadcast(kills=1, recipients=400, seconds=75, crash=False, faults=OUT, statuses="none", clicks=True)
LIMITED = KilledBroadcast(kills=1, recipients=400, seconds=120, crash=False, limit=200)
SHORT_BROADCAST = KilledBroadcast(kills=2, recipients=1_200, seconds=200)

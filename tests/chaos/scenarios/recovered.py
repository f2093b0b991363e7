"""A broadcast under way when its database is lost: restored from a dump, or taken over by a standby.

Everything is done as docs/operations/backups.md and postgresql.md say, but senders are started first: they must hold
back by themselves.
"""

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum

import redis
from django.db import connection
from django.utils.timezone import now

from tests.chaos.scenarios.backups import dump, run
from tests.chaos.scenarios.broadcasts import OUT, SENDERS, BroadcastScenario, PlayedBroadcast
from tests.chaos.system.system import Servers, System, connect, migrate
from tools.local import ROOT
from tools.local.servers.postgres import Postgres
from tools.local.servers.starting import socket_folder

# So many more are sent to after what is brought back was saved.
FORGOTTEN = 150
# These are due when all is over: nobody can have sent to them before.
LATER = 100
# What `manage.py check` says of a standby that may lag.
WARNING = "operations.W002"
STANDBYS = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"


class Way(StrEnum):
    DUMP = "dump"
    LAGGING_STANDBY = "lagging standby"
    SYNCHRONOUS_STANDBY = "synchronous standby"

    @property
    def loses(self) -> bool:
        return self != Way.SYNCHRONOUS_STANDBY


@dataclass(frozen=True, kw_only=True)
class RecoveredBroadcast(BroadcastScenario):
    """The database is killed while both senders are at work, and comes back in one of the ways."""

    way: Way

    @property
    def planned(self) -> int:
        return 1

    @property
    def most_unknown(self) -> int:
        return self.recipients if self.way.loses else super().most_unknown

    def played_on(self, system: System, rng: random.Random) -> PlayedBroadcast:
        return PlayedRecovery(self, system, rng)


class PlayedRecovery(PlayedBroadcast):
    def __init__(self, scenario: RecoveredBroadcast, system: System, rng: random.Random) -> None:
        super().__init__(scenario, system, rng)
        self._way = scenario.way
        self._old = system.servers
        self._folder = system.servers.state / f"recovered-{system.name}"

    def play(self, variables: Mapping[str, str], stack: ExitStack) -> None:
        self._folder.mkdir(mode=0o700)
        account = self._old.postgres.account
        account.own(self._folder)
        stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
        sockets = stack.enter_context(socket_folder(self._folder, account))
        self.begin(variables)
        self._postpone()
        new = Postgres(self._folder, sockets, account)
        stack.callback(self._put_back)
        stack.callback(new.stop)
        if self._way != Way.DUMP:
            self._follow(new)
        self.system.processes.start(*SENDERS)
        self.wait_for_traffic()
        self._save(new)
        self._wait_for_more()
        self._lose()
        self._bring_back(new)
        self._go_on(variables)
        self.let_end()
        self.count()

    def _postpone(self) -> None:
        from broadcasts.models import Recipient

        last = Recipient.objects.order_by("-contact_id").values_list("contact_id", flat=True)[:LATER]
        Recipient.objects.filter(contact_id__in=list(last)).update(due_at="2100-01-01T00:00Z")

    def _follow(self, standby: Postgres) -> None:
        """Start a standby, for which commits wait where it is a synchronous one."""
        if self._way == Way.SYNCHRONOUS_STANDBY:
            self._old.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            self._old.execute("SELECT pg_reload_conf()")
        arguments = ("--wal-method=stream", "--checkpoint=fast", "--write-recovery-conf")
        run(self._old, "pg_basebackup", "-D", str(standby.folder), *arguments)
        standby.start()
        while self._old.execute(STANDBYS) != [(1,)]:
            time.sleep(0.05)
        checked = self._manage("check", "--database", "default")
        if (WARNING in checked.stderr) != self._way.loses:
            self.outcome.wrong.append(f"the system check said: {checked.stderr}")

    def _save(self, new: Postgres) -> None:
        """From here on the database that comes back hears of nothing, but for a synchronous standby."""
        if self._way == Way.DUMP:
            dump(self._old, self.system.name, self._folder)
        elif self._way == Way.LAGGING_STANDBY:
            there = replace(self._old, postgres=new)
            there.execute("ALTER SYSTEM SET primary_conninfo = ''")
            there.execute("SELECT pg_reload_conf()")
            while self._old.execute(STANDBYS) != [(0,)]:
                time.sleep(0.05)

    def _wait_for_more(self) -> None:
        wanted = self.sent() + FORGOTTEN
        while self.sent() < wanted:
            self.system.processes.look_after()
            time.sleep(0.05)

    def _lose(self) -> None:
        """The machine of the database is gone, and the product is stopped."""
        had_work = bool(self.waiting())
        self._old.postgres.stop(signal.SIGKILL)
        self.system.processes.take_down(*SENDERS, "reader", "web")
        self.outcome.injected += had_work and not self._old.postgres.is_running

    def _bring_back(self, new: Postgres) -> None:
        self.system.servers = replace(self._old, postgres=new)
        if self._way == Way.DUMP:
            new.start()
            run(self._old, "createdb", self.system.name, of=new)
            arguments = ("--exit-on-error", "--jobs=2", f"--dbname={self.system.name}", f"{self._folder}/dump")
            run(self._old, "pg_restore", *arguments, of=new)
            self._forget_counters()
        else:
            self.system.servers.execute("SELECT pg_promote()")
            stand_alone(self.system.servers)
        connect(self.system.servers, self.system.name)
        migrate(new.url(self.system.name))

    def _go_on(self, variables: Mapping[str, str]) -> None:
        from broadcasts.models import Broadcast, Recipient
        from channelconnect.models import SenderRun
        from tests.rounds import wait_for_a_round

        self.system.configure(variables)
        self.system.processes.start("web", "reader")
        self.system.wait_for_web()
        before, gone = self.sent(), list(SenderRun.objects.values_list("number", flat=True))
        self.system.processes.start(*SENDERS)
        wait_for_a_round(SenderRun, but=gone)
        if self.sent() != before:
            self.outcome.wrong.append("something left before after_restore")
        self._run_after_restore()
        Recipient.objects.filter(due_at__year=2100).update(due_at=now())
        Broadcast.objects.update(next_due_at=now())
        if self._way.loses:
            self._resume()
        self.outcome.notes.append(f"{before} sent before, {self.scenario.recipients - before} not")

    def _run_after_restore(self) -> None:
        arguments = () if self._way.loses else ("--nothing-lost",)
        ran = self._manage("after_restore", *arguments)
        self.outcome.notes.append((ran.stdout.splitlines() or ran.stderr.splitlines()[-1:] or [""])[0])
        if ran.returncode:
            self.outcome.wrong.append("after_restore was refused")

    def _manage(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "manage.py", *arguments]
        environment = self.system.processes.environment()
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    def _resume(self) -> None:
        from agency.actors import SYSTEM
        from broadcasts.models import Broadcast
        from broadcasts.services.moving import resume_broadcast
        from config.db import database_now

        for broadcast in Broadcast.objects.filter(status=Broadcast.Status.PAUSED):
            resume_broadcast(broadcast=broadcast, now=database_now(), by=SYSTEM)

    def _forget_counters(self) -> None:
        with redis.Redis.from_url(self._old.valkey.url()) as client:
            client.flushdb()

    def _put_back(self) -> None:
        """The other scenarios go on with the server that was killed, which lies behind the one that took over."""
        self.system.processes.stop()
        self._old.postgres.start()
        while not self._old.postgres.answers():
            time.sleep(0.1)
        stand_alone(self._old)
        self._forget_counters()
        connection.close()


def stand_alone(servers: Servers) -> None:
    """Have commits wait for no standby."""
    servers.execute("ALTER SYSTEM RESET synchronous_standby_names")
    servers.execute("SELECT pg_reload_conf()")


def _recovered(way: Way) -> RecoveredBroadcast:
    return RecoveredBroadcast(way=way, recipients=1_200, seconds=300, faults=OUT)


RECOVERED = {f"broadcast-{way.replace(' ', '-')}": _recovered(way) for way in Way}

"""Another dispatcher beside the one that a test starts, at the database alone."""

import random
from datetime import timedelta

from django.db import connection
from django.utils.timezone import now

from config.leases.claimer import Demand
from config.leases.connections import Connection, open_connection
from config.leases.runs import GRACE_SECONDS
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartReceiver
from tests.webhooks.delivering import record_events, subscribe
from webhooks.dispatcher import queries
from webhooks.dispatcher.claimer import DeliveryClaimer
from webhooks.dispatcher.fan_out import FanOut
from webhooks.dispatcher.queries import NO_CAPACITY, Capacity, LeasedDelivery
from webhooks.dispatcher.recorder import columns, not_sent
from webhooks.models import Delivery, DispatcherRun


class OtherDispatcher:
    """It leases, and sends nothing."""

    def __init__(self) -> None:
        self.number = random.randrange(1, 2**31)
        self.connection: Connection = open_connection("another dispatcher")
        queries.RUNS.begin(self.connection, run=self.number)
        queries.RUNS.hold_presence(self.connection, run=self.number)
        self.leased: list[LeasedDelivery] = []
        # What its loop, which is none, says to the claimer. With `None` it does not answer.
        self.capacity: Capacity | None = Capacity(1_000, 1_000, {}, (), (), (), (), 0)
        self.demand = Demand(nothing=NO_CAPACITY, wake=self._answer)
        self.claimer = DeliveryClaimer(self.number, self.demand, self._receive, lambda: None)
        self.claimer.shards.create(self.connection)
        self.fan_out = FanOut(self.number, self.claimer.shards, lambda: None)

    def _answer(self) -> None:
        if self.capacity:
            self.demand.answer(self.capacity)

    def _receive(self, leased: list[LeasedDelivery], _: object) -> None:
        self.leased = leased

    def take(self, *, room: int = 1_000, suspects: int = 0) -> list[LeasedDelivery]:
        """Lease what is there; `suspects` is how many it has leased."""
        self.leased = []
        self.claimer.sweep(self.connection)
        self.make_deliveries()
        self.claimer.claim(self.connection, Capacity(1_000, room, {}, (), (), (), (), suspects))
        return self.leased

    def make_deliveries(self) -> None:
        """Make the deliveries of all events."""
        self.claimer.shards.balance(self.connection)
        self.fan_out.tenants.rescan(self.connection)
        while self.fan_out.fan_out(self.connection):
            pass

    def record(self, row: LeasedDelivery, error: str = "refused") -> int:
        return queries.record(
            self.connection, run=self.number, columns=columns([not_sent(row, "http://receiver/", error)])
        )

    def succeed(self, row: LeasedDelivery) -> int:
        """Record an attempt that was answered with a 2xx."""
        failed = not_sent(row, "http://receiver/", "")
        return queries.record(
            self.connection,
            run=self.number,
            columns=columns([failed._replace(result=failed.result._replace(error=None, status=204))]),
        )

    def deliver(self, id: int) -> bool:
        """Record a success that took no time."""
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM webhooks_queueddelivery WHERE delivery_id = %s AND run = %s", [id, self.number])
            found: int = cursor.rowcount
        Delivery.objects.filter(pk=id).update(status="success", completed_at=now())
        return found == 1

    def die(self) -> None:
        """Vanish, as long ago as the others wait for: the database has noticed, too."""
        session = self.connection.info.backend_pid
        self.connection.close()
        until(lambda: not is_open(session))
        self.fall_silent(seconds=GRACE_SECONDS + 1)

    def fall_silent(self, *, seconds: float) -> None:
        then = now() - timedelta(seconds=seconds)
        DispatcherRun.objects.filter(number=self.number).update(started_at=then, seen_at=then)


def is_open(session: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [session])
        return cursor.fetchone() is not None


def record_wanted_events(tenant: Tenant, start_receiver: StartReceiver, count: int = 1) -> None:
    """Record so many events of an agency that one endpoint wants."""
    subscribe(tenant, start_receiver())
    record_events(tenant, count)

"""The desk that finds work: fans out events, leases deliveries, and keeps the shift's presence."""

import logging
import threading
import time
from collections.abc import Callable

import psycopg

from webhooks.courier import rows
from webhooks.courier.database import Connection
from webhooks.courier.desk import Desk
from webhooks.courier.rows import Card, Leased, Wants

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 0.5
# The loop must have been heard of lately, or the leases are let expire.
LOOP_PATIENCE_SECONDS = 5.0
# An attempt that starts so long after the shift was seen ends before the leases do.
SURE_SECONDS = rows.LEASE_SECONDS - 10.5
NOTHING = Wants(0, 0, {}, (), (), 0)


class Demand:
    """What the event loop wants next: asked for by the clerk, told by the loop, good for one claim."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._told = threading.Event()
        self._wants = NOTHING
        self.is_asked = False
        self._is_closed = False

    def ask(self) -> Wants:
        """Called by the clerk; the loop has all earlier batches when it answers."""
        self._told.clear()
        if self._is_closed:
            return NOTHING
        self.is_asked = True
        self._wake()
        return self._wants if self._told.wait(SWEEP_SECONDS) else NOTHING

    def tell(self, wants: Wants) -> None:
        """Called by the loop."""
        self.is_asked = False
        self._wants = wants
        self._told.set()

    def close(self) -> None:
        """Called by the loop, which answers no more."""
        self._is_closed = True
        self.tell(NOTHING)


class Clerk(Desk):
    """`deliver` gets every batch of leased deliveries, with the endpoints to know for it."""

    name = "clerk"

    def __init__(self, shift: int, demand: Demand, deliver: Callable[[list[Leased], list[Card]], None]) -> None:
        super().__init__(shift)
        self.demand = demand
        self.deliver = deliver
        self.bell = threading.Event()
        self.is_lost = False
        self.loop_ticked_at = time.monotonic()
        self._sure_until = 0.0
        self.found_nothing = False
        self._has_begun = False
        self._known: set[int] = set()
        self._swept_at = 0.0

    @property
    def is_sure(self) -> bool:
        """Whether the leases in hand last for an attempt that starts now."""
        return time.monotonic() < self._sure_until

    def greet(self, connection: Connection) -> None:
        if not self._has_begun:
            rows.begin_shift(connection, shift=self.shift)
            self._has_begun = True
        rows.hold_presence(connection, shift=self.shift)
        self._be_seen(connection)

    def work(self) -> None:
        connection = self.connection
        self.bell.clear()
        self._sweep(connection)
        has_more = rows.fan_out(connection) == rows.FAN_OUT_BATCH
        if not self.is_lost:
            has_more |= self._claim(connection)
        if not has_more:
            self.bell.wait(SWEEP_SECONDS)

    def _sweep(self, connection: Connection) -> None:
        now = time.monotonic()
        if now - self._swept_at < SWEEP_SECONDS:
            return
        self._swept_at = now
        if now - self.loop_ticked_at < LOOP_PATIENCE_SECONDS:
            self._be_seen(connection)
        if lost := rows.end_lost_shifts(connection, shift=self.shift):
            logger.warning("the deliveries of lost couriers are taken over", extra={"couriers": lost})
        rows.get_ready(connection)
        self._tell(connection, [])

    def _be_seen(self, connection: Connection) -> None:
        asked_at = time.monotonic()
        if rows.be_seen(connection, shift=self.shift):
            self._sure_until = asked_at + SURE_SECONDS
        else:
            self.is_lost = True

    def _claim(self, connection: Connection) -> bool:
        """Lease what the loop has room for; say whether there was more than that."""
        wants = self.demand.ask()
        if wants.batch <= 0:
            return False
        leased = rows.claim(connection, shift=self.shift, wants=wants)
        if leased:
            self._tell(connection, leased)
        self.found_nothing = not leased
        return len(leased) >= wants.batch

    def _tell(self, connection: Connection, leased: list[Leased]) -> None:
        """Pass on a batch with endpoints as they are now: read after the claim, so never older than an event of it."""
        unknown = {row.endpoint_id for row in leased} - self._known
        cards = rows.cards(connection, unknown=unknown)
        self._known |= unknown
        if leased or cards:
            self.deliver(leased, cards)

    def wake(self) -> None:
        self.bell.set()

    def finish(self) -> None:
        """Leave work. Called when everything is given back or recorded, as far as that is possible."""
        if self._has_begun:
            try:
                rows.end_shift(self.connection, shift=self.shift)
            except psycopg.Error as error:
                logger.warning("the shift could not be ended", extra={"fault": type(error).__name__})

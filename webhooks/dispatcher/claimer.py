"""The thread that leases deliveries."""

from collections.abc import Callable, Iterable
from time import monotonic

from agency.services.events import DISPATCHER
from config.celery import wake_up_now
from config.leases.claimer import Claimer, Demand
from config.leases.connection import Connection
from config.leases.shards import OwnedShards, shard_of
from config.leases.transactions import ReadTransactions
from config.metrics import observe
from webhooks.dispatcher import queries
from webhooks.dispatcher.queries import NO_CAPACITY, Capacity, Coming, EndpointSnapshot, LeasedDelivery
from webhooks.dispatcher.ready_endpoints import ReadyEndpoints

# So often what became due long ago, and what is held no longer, is looked for as well.
ALL_DUE_SECONDS = 20.0


# What is asked for in an order is walked to over the index that has this order, whatever the statistics say: an index
# of everything that waits, and a sort, would look at all of it.
SESSION = "SET enable_sort = off"


def prepare_session(connection: Connection) -> None:
    """Have a claimer's connection find rows in their order."""
    connection.execute(SESSION)


class DeliveryClaimer(Claimer[Capacity]):
    """`deliver` gets every batch of leased deliveries, with the endpoints to know for it.

    `on_shards` is called when there are others than before.
    """

    name = "dispatcher claimer"
    longest_attempt_seconds = 10.5  # ten seconds, and a margin

    def __init__(
        self,
        run: int,
        demand: Demand[Capacity],
        deliver: Callable[[list[LeasedDelivery], list[EndpointSnapshot]], None],
        on_shards: Callable[[], None],
    ) -> None:
        super().__init__(run, queries.RUNS, demand)
        self.deliver = deliver
        self.on_shards = on_shards
        self.shards = OwnedShards(run=run, shards="webhooks_endpointshard", runs="webhooks_dispatcherrun")
        self.ready = ReadyEndpoints(self.shards)
        self._busy: list[int] | None = None
        self._known: set[int] = set()
        self._edits = ReadTransactions()
        self._looked_at_all_due: float | None = None
        self._passed_on_at = 0.0
        self._may_have_suspects = True

    def on_connect(self, connection: Connection) -> None:
        prepare_session(connection)
        super().on_connect(connection)
        self.shards.create(connection)
        self._edits.begin(connection)

    def wake_others(self) -> None:
        wake_up_now(DISPATCHER)

    def sweep(self, connection: Connection) -> bool:
        is_busy = self._balance(connection)
        self.ready.drop_foreign()
        coming = self._get_ready(connection)
        self._may_have_suspects = coming.has_suspects
        if is_busy or monotonic() - self._passed_on_at >= ALL_DUE_SECONDS:
            self._pass_on(connection, [])
        return coming.is_soon

    def _free_a_page(self, connection: Connection) -> bool:
        self._may_have_suspects |= bool(self._freeing)
        return super()._free_a_page(connection)

    def _balance(self, connection: Connection) -> bool:
        """Keep what takes long: in a shard that is given away, nobody would deliver for as long as it takes.

        So the loop is asked what takes long now. As long as it does not answer, nothing is taken or given away. Says
        whether anything is leased.
        """
        capacity = self.demand.ask()
        if capacity is NO_CAPACITY:
            return True  # nobody knows
        if self.shards.balance(connection, held_up={shard_of(endpoint) for endpoint in capacity.slow}):
            self.ready.forget()
            self.on_shards()
        return bool(capacity.busy)

    def _get_ready(self, connection: Connection) -> Coming:
        now = monotonic()
        if self._looked_at_all_due is not None and now - self._looked_at_all_due < ALL_DUE_SECONDS:
            return queries.get_ready(connection)
        coming = queries.get_ready(connection, late_seconds=queries.ALL_SECONDS)
        released = queries.release(connection)
        if max(coming.made, released) < queries.READY_BATCH:
            self._looked_at_all_due = now
        return coming

    def keep_only(self, busy: list[int]) -> None:
        """Claim nothing more, and keep no endpoints but these, of which something is in flight."""
        if busy != self._busy:
            self._busy = busy
            self.wind_down()

    def let_go(self, connection: Connection) -> None:
        self.shards.close()
        self._release(connection, self._busy or ())

    def _release(self, connection: Connection, busy: Iterable[int]) -> None:
        if self.shards.release(connection, busy={shard_of(endpoint) for endpoint in busy}):
            self.wake_others()

    def claim(self, connection: Connection, capacity: Capacity) -> int:
        self._release(connection, capacity.busy)
        self.ready.refresh(connection)
        asked = self.ready.choose(capacity)
        if not (asked or self._may_have_suspects):
            return 0
        self.stay_awake()
        began = monotonic()
        claimed = queries.claim(
            connection,
            run=self.run,
            asked=list(asked.values()),
            held=self.shards.held,
            batch=capacity.batch,
            suspects=capacity.suspects,
        )
        observe("dispatcher_claim_seconds", monotonic() - began)
        self.ready.note(asked, claimed, batch=capacity.batch)
        if claimed:
            self._pass_on(connection, [one.row for one in claimed])
        return len(claimed)

    def _pass_on(self, connection: Connection, leased: list[LeasedDelivery]) -> None:
        """Pass on a batch with endpoints as they are now: read after the claim, so never older than an event of it."""
        unknown = {row.endpoint_id for row in leased} - self._known
        self._known |= unknown
        self._passed_on_at = monotonic()
        read = queries.endpoint_snapshots(connection, unknown=unknown, edits=self._edits)
        snapshots = [snapshot for snapshot in read if snapshot.endpoint_id in self._known]
        if leased or snapshots:
            self.deliver(leased, snapshots)

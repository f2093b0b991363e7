"""The claimer thread, which leases deliveries for one run."""

from collections.abc import Callable, Iterable
from time import monotonic

from agency.services.events import DISPATCHER
from config.celery import wake_up_now
from config.leases.backlog import ReadTransactions
from config.leases.claimer import Claimer, Demand
from config.leases.connections import Connection
from config.leases.runs import OwnedShards, shard_of
from config.metrics import observe
from webhooks.dispatcher import queries
from webhooks.dispatcher.queries import NO_CAPACITY, Capacity, Coming, EndpointSnapshot, LeasedDelivery
from webhooks.dispatcher.ready_endpoints import ReadyEndpoints

# How often the claimer also looks for deliveries that became due long ago or are no longer held.
ALL_DUE_SECONDS = 20.0


# An ordered query must use the index with that order, whatever the statistics say. Another index and a sort would read
# all waiting rows.
SESSION = "SET enable_sort = off"


def prepare_session(connection: Connection) -> None:
    """Make a claimer's connection read rows in index order, without sorts."""
    connection.execute(SESSION)


class DeliveryClaimer(Claimer[Capacity]):
    """Leases deliveries. `deliver` gets every batch of leased deliveries with new or changed endpoints.

    `on_shards` is called when the run's shards have changed.
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
        """Balance the shards between runs. Return whether the run has leases, or may have.

        A shard with a slow endpoint is kept. If it were given away, nobody would deliver its other endpoints until the
        slow attempt ends. So the claimer asks the loop for the slow endpoints first; without an answer, no shard is
        taken or given away.
        """
        capacity = self.demand.ask()
        if capacity is NO_CAPACITY:
            return True  # the loop gave no answer
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
        """Claim nothing more, and keep only the shards of these endpoints, which have attempts in flight."""
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
        """Pass a batch on with its endpoints, read after the claim so that they are never older than an event of it."""
        unknown = {row.endpoint_id for row in leased} - self._known
        self._known |= unknown
        self._passed_on_at = monotonic()
        read = queries.endpoint_snapshots(connection, unknown=unknown, edits=self._edits)
        snapshots = [snapshot for snapshot in read if snapshot.endpoint_id in self._known]
        if leased or snapshots:
            self.deliver(leased, snapshots)

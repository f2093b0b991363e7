"""The thread that claims due deliveries: endpoints that have some take turns."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from time import monotonic

from agency.services.events import DISPATCHER
from config.celery import wake_up_now
from config.leases.backlog import Backlog, Cursor, Path, ReadTransactions, ScanResult, Waiting
from config.leases.claimer import Claimer, Demand
from config.leases.connections import Connection
from config.leases.runs import OwnedShards, shard_of
from config.metrics import observe
from webhooks.dispatcher import queries, statements
from webhooks.dispatcher.queries import (
    NO_CAPACITY,
    Capacity,
    ClaimedDelivery,
    EndpointRequest,
    EndpointSnapshot,
    LeasedDelivery,
    ReadyResult,
    tenant_number,
)

TURNS_PER_AGENCY = 64
# A claim asks for more endpoints than its batch needs, because most have fewer deliveries than their room.
MOST_ASKED = 300


def path_of(agency_id: int, workspace_id: int | None, endpoint_id: int) -> Path:
    """Return an endpoint's path: agencies take turns, within each its tenants, within each its endpoints."""
    return agency_id, tenant_number(agency_id, workspace_id), endpoint_id


class ReadyEndpoints(Backlog):
    """The endpoints with ready deliveries in one dispatcher's shards. Only the claimer's thread uses it."""

    def __init__(self, shards: OwnedShards) -> None:
        super().__init__()
        self._shards = shards

    def is_ours(self, path: Path) -> bool:
        return shard_of(path[2]) in self._shards.held

    def look_for_new(self, connection: Connection, unread: dict[str, int | str], limit: int) -> ScanResult:
        rows = connection.execute(statements.NEW_READY, {**unread, "limit": limit}, prepare=True).fetchall()
        waiting = [Waiting(path_of(*row[2:5]), row[5]) for row in rows if row[4] is not None]
        return ScanResult(rows[0][0], waiting, rows[0][1])

    def look_at_page(self, connection: Connection, after: Path | None, page: int) -> list[Waiting]:
        values = {"endpoint": after[2] if after else 0, "page": page}
        rows = connection.execute(statements.READY_OF_ENDPOINTS, values, prepare=True)
        return [Waiting(path_of(*row[:3]), row[3]) for row in rows]

    def choose(self, capacity: Capacity) -> dict[Path, EndpointRequest]:
        """Choose the endpoints to claim: one of each agency in turn, then the next, as far as there is room."""
        full_agencies, full_tenants = set(capacity.full_agencies), set(capacity.full_tenants)
        rooms, first = capacity.rooms, capacity.first

        def is_skipped(path: Path) -> bool:
            if len(path) == 3:
                return rooms.get(path[2], first) <= 0
            return path[1] in full_tenants if len(path) == 2 else path[0] in full_agencies

        in_turn = self.turns.in_turn(most_of_each=TURNS_PER_AGENCY, is_skipped=is_skipped)
        return {
            path: EndpointRequest(path[2], rooms.get(path[2], first), *self.places[path])
            for path in islice(in_turn, MOST_ASKED)
        }

    def record_claim(
        self, asked: Mapping[Path, EndpointRequest], claimed: Iterable[ClaimedDelivery], *, batch: int
    ) -> bool:
        """Move the cursors after a claim. Return whether the batch was full before all endpoints had their turn.

        The claim goes from endpoint to endpoint. If the batch was full, endpoints after the last one with claimed
        deliveries were not reached.
        """
        counts: Counter[int] = Counter()
        last: dict[int, Cursor] = {}
        for position, row in claimed:
            if not row.is_suspect:
                counts[row.endpoint_id] += 1
                place = Cursor(position, row.id)
                last[row.endpoint_id] = max(last.get(row.endpoint_id, place), place)
        is_full = counts.total() >= batch
        reached = [path for path in asked if path[2] in last]
        for path, one in asked.items():
            came = counts[one.endpoint_id]
            if came >= one.room or (is_full and path == reached[-1]):
                self.go_on(path, last[one.endpoint_id])
            else:
                self.finish(path)
            if is_full and path == reached[-1]:
                break
        return is_full


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

    def _get_ready(self, connection: Connection) -> ReadyResult:
        now = monotonic()
        if self._looked_at_all_due is not None and now - self._looked_at_all_due < ALL_DUE_SECONDS:
            return queries.mark_ready(connection)
        coming = queries.mark_ready(connection, late_seconds=queries.ALL_SECONDS)
        released = queries.release(connection)
        if max(coming.made, released) < queries.READY_BATCH:
            self._looked_at_all_due = now
        return coming

    def release_shards_except(self, busy: list[int]) -> None:
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
        self.ready.record_claim(asked, claimed, batch=capacity.batch)
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

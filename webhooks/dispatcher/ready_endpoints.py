"""Keeps the endpoints with ready deliveries, and chooses those of a claim so that each tenant has its turn."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice

from config.leases.backlog import Backlog, Cursor, Path, ScanResult, Waiting
from config.leases.connections import Connection
from config.leases.runs import OwnedShards, shard_of
from webhooks.dispatcher import statements
from webhooks.dispatcher.queries import Asked, Capacity, Claimed, tenant_number

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

    def choose(self, capacity: Capacity) -> dict[Path, Asked]:
        """Choose the endpoints to claim: one of each agency in turn, then the next, as far as there is room."""
        full_agencies, full_tenants = set(capacity.full_agencies), set(capacity.full_tenants)
        rooms, first = capacity.rooms, capacity.first

        def is_skipped(path: Path) -> bool:
            if len(path) == 3:
                return rooms.get(path[2], first) <= 0
            return path[1] in full_tenants if len(path) == 2 else path[0] in full_agencies

        in_turn = self.turns.in_turn(most_of_each=TURNS_PER_AGENCY, is_skipped=is_skipped)
        return {
            path: Asked(path[2], rooms.get(path[2], first), *self.places[path]) for path in islice(in_turn, MOST_ASKED)
        }

    def note(self, asked: Mapping[Path, Asked], claimed: Iterable[Claimed], *, batch: int) -> bool:
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

"""The thread that claims messages: of every channel what it has room for, sources in the order of their priority."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from time import monotonic
from typing import NamedTuple

from django.db import connection as project

from channelconnect.sending.channels import ChannelSnapshot, read_channels
from channelconnect.sending.sources import ClaimedMessage, MessageSource, ReadyChannel
from config.leases.claimer import Claimer, Demand
from config.leases.connection import Connection
from config.leases.runs import WorkerRuns
from config.leases.shards import OwnedShards, shard_of
from config.leases.turns import Path, Turns
from config.metrics import observe

# An advisory lock: any constant that nothing else in this database locks.
PRESENCE = 7_105_004
# How many a channel may send of which nothing is known yet.
FIRST_CLAIM = 10
CHANNELS_PER_CLAIM = 256
CHANNELS_PER_AGENCY = 64


class SendingRoom(NamedTuple):
    """What the loop can take: `rooms` of channels, `agency_rooms` of agencies, `busy` channels with calls out."""

    batch: int
    rooms: Mapping[int, int]
    agency_rooms: Mapping[int, int]
    busy: Sequence[int] = ()


NO_ROOM = SendingRoom(0, {}, {})


def runs_over(sources: Sequence[MessageSource]) -> WorkerRuns:
    """The senders' runs; what one that ended had claimed is freed by each source in one go."""

    def free(connection: Connection, runs: Iterable[int], after: int, died: bool) -> int | None:
        numbers = list(runs)
        for source in sources:
            source.free(connection, runs=numbers)
        return None

    return WorkerRuns(table="channelconnect_senderrun", presence=PRESENCE, free=free)


class MessageClaimer(Claimer[SendingRoom]):
    """`deliver` gets every batch of claimed messages, with their channels as they were then."""

    name = "sender claimer"
    longest_attempt_seconds = 15.5  # fifteen seconds, and a margin

    def __init__(
        self,
        run: int,
        sources: Sequence[MessageSource],
        demand: Demand[SendingRoom],
        deliver: Callable[[list[ClaimedMessage], list[ChannelSnapshot]], None],
    ) -> None:
        super().__init__(run, runs_over(sources), demand)
        self._sources = sorted(sources, key=lambda source: source.priority)
        self._deliver = deliver
        self.shards = OwnedShards(run=run, shards="channelconnect_sendershard", runs="channelconnect_senderrun")
        self.has_let_go = False
        self.has_more = False
        self._turns: dict[str, Turns] = {source.name: Turns() for source in self._sources}
        self._paths: dict[str, set[Path]] = {source.name: set() for source in self._sources}
        self._busy: frozenset[int] = frozenset()

    def on_connect(self, connection: Connection) -> None:
        # A claim that a crash of PostgreSQL forgot would be sent twice.
        connection.execute("SET synchronous_commit = on")
        super().on_connect(connection)
        self.shards.create(connection)

    def _disconnect(self) -> None:
        super()._disconnect()
        project.close()

    def sweep(self, connection: Connection) -> None:
        self.shards.balance(connection)
        for source in self._sources:
            source.advance(connection)

    def keep_only(self, busy: Iterable[int]) -> None:
        """Claim nothing more, and keep no channels but these, of which something is out."""
        self._busy = frozenset(map(shard_of, busy))
        self.wind_down()

    def let_go(self, connection: Connection) -> None:
        self.has_let_go = True
        self.shards.close()
        self.shards.release(connection, busy=self._busy)

    def claim(self, connection: Connection, capacity: SendingRoom) -> int:
        self.shards.release(connection, busy=set(map(shard_of, capacity.busy)))
        began, claimed = monotonic(), list[ClaimedMessage]()
        rooms, agency_rooms = dict(capacity.rooms), dict(capacity.agency_rooms)
        for source in self._sources:
            asked = self._choose(source, connection, rooms, agency_rooms)
            batch = capacity.batch - len(claimed)
            found = source.claim(connection, run=self.run, rooms=asked, batch=batch) if asked and batch > 0 else ()
            for row in found:
                rooms[row.channel_id] = rooms.get(row.channel_id, FIRST_CLAIM) - 1
                agency_rooms[row.agency_id] = agency_rooms.get(row.agency_id, FIRST_CLAIM * FIRST_CLAIM) - 1
            claimed.extend(found)
        self.has_more = bool(claimed)
        if claimed:
            observe("sender_claim_seconds", monotonic() - began)
            self._deliver(claimed, read_channels(connection, {row.channel_id for row in claimed}))
        return len(claimed)

    def _choose(
        self,
        source: MessageSource,
        connection: Connection,
        rooms: Mapping[int, int],
        agency_rooms: Mapping[int, int],
    ) -> dict[int, int]:
        """What to ask a source for: one channel of each agency in turn, as far as there is room for it."""
        turns = self._turns[source.name]
        self._learn(source.name, source.ready_channels(connection))

        def is_skipped(path: Path) -> bool:
            if len(path) == 1:
                return agency_rooms.get(path[0], 1) <= 0
            return rooms.get(path[1], FIRST_CLAIM) <= 0

        in_turn = turns.in_turn(most_of_each=CHANNELS_PER_AGENCY, is_skipped=is_skipped)
        chosen = list(islice(in_turn, CHANNELS_PER_CLAIM))
        for path in chosen:
            turns.end_turn(path)
        return {path[1]: rooms.get(path[1], FIRST_CLAIM) for path in chosen}

    def _learn(self, name: str, ready: Iterable[ReadyChannel]) -> None:
        """Let exactly these channels take part, those of other senders aside; who has a turn keeps it."""
        held, turns = self.shards.held, self._turns[name]
        found = {tuple(one) for one in ready if shard_of(one.channel_id) in held}
        for path in self._paths[name] - found:
            turns.remove(path)
        for path in sorted(found - self._paths[name]):
            turns.add(path)
        self._paths[name] = found

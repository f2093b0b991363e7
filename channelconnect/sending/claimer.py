"""The thread that claims messages: the channels with messages take turns while there is capacity for them."""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from itertools import islice
from time import monotonic
from typing import Final, NamedTuple

from django.db import connection as project

from channelconnect.sending.brakes import Brakes
from channelconnect.sending.channels import ChannelSnapshot, read_channels
from channelconnect.sending.limits import SendingLimits
from channelconnect.sending.sources import ClaimedMessage, MessageSource, is_urgent, prepare_session
from config.celery import wake_up_now
from config.leases.backlog import Path, RoundRobin
from config.leases.claimer import Claimer, Demand
from config.leases.connections import Connection
from config.leases.runs import OwnedShards, WorkerRuns, shard_of
from config.metrics import observe
from config.postgresql.concurrency import AdvisoryLock
from workspaces.conversations.services.sending import SENDER


class SendingCapacity(NamedTuple):
    """The room for a claim: `batch` in all, `bulk` if urgent messages keep their share; `busy` channels have calls."""

    batch: int
    bulk: int
    limits: SendingLimits
    busy: Sequence[int] = ()


NO_ROOM = SendingCapacity(0, 0, SendingLimits())


class RemainingCapacity:
    """The room left for one source. The limits do not include yet what this claim has taken for earlier sources."""

    def __init__(self, limits: SendingLimits, claimed: Sequence[ClaimedMessage], *, is_urgent: bool) -> None:
        self._limits = limits
        self._is_urgent = is_urgent
        self._channels = Counter(row.channel_id for row in claimed)
        self._agencies = Counter(row.agency_id for row in claimed)
        self._braked: Counter[str] = Counter()
        for channel, number in self._channels.items():
            self.reserve(channel, number)

    def of_channel(self, channel: int) -> int:
        room = self._limits.room(channel, is_urgent=self._is_urgent) - self._channels[channel]
        for scope in self._limits.brakes_of(channel):
            room = min(room, self._limits.brakes.room(scope, is_urgent=self._is_urgent) - self._braked[scope])
        return room

    def reserve(self, channel: int, number: int) -> None:
        """Reserve some of the brakes' room for a channel; other channels with the same brakes have less then."""
        for scope in self._limits.brakes_of(channel):
            self._braked[scope] += number

    def of_agency(self, agency: int) -> int:
        return self._limits.agency_room(agency, is_urgent=self._is_urgent) - self._agencies[agency]


# The channels with messages are looked up from time to time.

CHANNELS_PER_CLAIM: Final = 256
CHANNELS_PER_AGENCY: Final = 64
# Looks take at most a tenth of the time, however many channels there are and however often there is news.
REST_FOR_EACH_LOOK: Final = 9.0


class ReadyChannels:
    """The ready channels of one source. Only the claimer's thread uses it, but any thread may set `has_news`."""

    def __init__(self, source: MessageSource) -> None:
        self.source = source
        self.has_news = True
        self._turns = RoundRobin()
        self._paths: set[Path] = set()
        self._rests_until = 0.0

    @property
    def may_have_more(self) -> bool:
        return self.has_news or bool(self._paths)

    def look(self, connection: Connection, *, held: Collection[int]) -> None:
        """Look up ready channels if there may be news. Channels in other senders' shards are left out."""
        began = monotonic()
        if not self.has_news or began < self._rests_until:
            return
        self.has_news = False
        ready = self.source.ready_channels(connection, held)
        found: set[Path] = {tuple(one) for one in ready if shard_of(one.channel_id) in held}
        for path in self._paths - found:
            self._turns.remove(path)
        for path in sorted(found - self._paths):
            self._turns.add(path)
        self._paths = found
        ended = monotonic()
        self._rests_until = ended + REST_FOR_EACH_LOOK * (ended - began)

    def choose(self, rooms: RemainingCapacity, *, held: Container[int]) -> dict[Path, int]:
        """Choose channels, with turns for agencies and their workspaces, and return their room.

        It passes over other senders' channels.
        """

        def is_skipped(path: Path) -> bool:
            if len(path) == 1:
                return rooms.of_agency(path[0]) <= 0
            if len(path) == 2:
                return False
            return shard_of(path[2]) not in held or rooms.of_channel(path[2]) <= 0

        in_turn = self._turns.in_turn(most_of_each=CHANNELS_PER_AGENCY, is_skipped=is_skipped)
        chosen: dict[Path, int] = {}
        for path in islice(in_turn, CHANNELS_PER_CLAIM):
            chosen[path] = rooms.of_channel(path[2])
            rooms.reserve(path[2], chosen[path])
        for path in chosen:
            self._turns.end_turn(path)
        return chosen

    def remove(self, path: Path) -> None:
        """Remove a channel that has nothing left."""
        self._paths.discard(path)
        self._turns.remove(path)


def runs_over(sources: Sequence[MessageSource]) -> WorkerRuns:
    """Return the senders' runs. An ended run is forgotten once all sources have freed its claims."""

    def free(connection: Connection, runs: Iterable[int], after: int, died: bool) -> int | None:
        numbers = list(runs)
        left = [source for source in sources if source.free(connection, runs=numbers)]
        return after if left else None

    return WorkerRuns(table="channelconnect_senderrun", presence=AdvisoryLock.SENDER_RUN.value, free=free)


class MessageClaimer(Claimer[SendingCapacity]):
    """Claims messages and hands batches to `deliver` with their channels, or None if these could not be read."""

    name = "sender claimer"
    longest_attempt_seconds = 15.5  # fifteen seconds, and a margin

    def __init__(
        self,
        run: int,
        sources: Sequence[MessageSource],
        demand: Demand[SendingCapacity],
        deliver: Callable[[Sequence[ClaimedMessage], list[ChannelSnapshot] | None], None],
        brakes: Brakes,
    ) -> None:
        super().__init__(run, runs_over(sources), demand)
        self._brakes = brakes
        self._sources = sorted(sources, key=lambda source: source.priority)
        self._deliver = deliver
        self.shards = OwnedShards(run=run, shards="channelconnect_sendershard", runs="channelconnect_senderrun")
        self.has_let_go = False
        self.has_more = False
        self._ready = [ReadyChannels(source) for source in self._sources]
        self._busy: frozenset[int] = frozenset()

    def on_connect(self, connection: Connection) -> None:
        prepare_session(connection)
        super().on_connect(connection)
        self.shards.create(connection)

    def _disconnect(self) -> None:
        super()._disconnect()
        project.close()

    def wake_others(self) -> None:
        wake_up_now(SENDER)

    def sweep(self, connection: Connection) -> bool:
        self.shards.balance(connection)
        if self._brakes.exchange(connection):
            self.wake_others()
        is_soon = self._brakes.is_all_stopped
        for ready in self._ready:
            coming = ready.source.advance(connection)
            if coming.is_ready:
                ready.has_news = True
            is_soon |= coming.is_soon
        return is_soon

    def look_again(self) -> None:
        """Look again for messages to send, because there are new ones or an earlier one has ended."""
        for ready in self._ready:
            ready.has_news = True
        self.wake()

    def release_shards_except(self, busy: Iterable[int]) -> None:
        """Claim nothing more, and release the shards of all channels except these, whose calls are in flight."""
        self._busy = frozenset(map(shard_of, busy))
        self.wind_down()

    def let_go(self, connection: Connection) -> None:
        self.has_let_go = True
        self.shards.close()
        self._release(connection, self._busy)

    def _release(self, connection: Connection, busy: Container[int]) -> None:
        if self.shards.release(connection, busy=busy):
            self.wake_others()

    def claim(self, connection: Connection, capacity: SendingCapacity) -> int:
        self._release(connection, set(map(shard_of, capacity.busy)))
        if self._brakes.is_all_stopped:
            self.has_more = False  # the next sweep looks again
            return 0
        began, claimed = monotonic(), list[ClaimedMessage]()
        for ready in self._ready:
            found = self._claim_of(ready, connection, capacity, claimed)
            if found:
                # Pass them on at once: an urgent message waits for no other claim, and no other fault loses it.
                self._pass_on(connection, found)
                claimed.extend(found)
        self.has_more = any(ready.may_have_more for ready in self._ready)
        if claimed:
            observe("sender_claim_seconds", monotonic() - began)
        return len(claimed)

    def _pass_on(self, connection: Connection, claimed: Sequence[ClaimedMessage]) -> None:
        """Hand committed claims to the loop in any case. Without their channels, messages can only be given back."""
        channels: list[ChannelSnapshot] | None = None
        try:
            channels = read_channels(connection, {row.channel_id for row in claimed})
        finally:
            self._deliver(claimed, channels)

    def _claim_of(
        self, ready: ReadyChannels, connection: Connection, capacity: SendingCapacity, before: Sequence[ClaimedMessage]
    ) -> Sequence[ClaimedMessage]:
        """Claim a source's messages, with turns for agencies, within the room that earlier sources have left."""
        urgent = is_urgent(ready.source)
        batch = (capacity.batch if urgent else capacity.bulk) - len(before)
        if batch <= 0:
            return ()
        ready.look(connection, held=self.shards.held)
        asked = ready.choose(RemainingCapacity(capacity.limits, before, is_urgent=urgent), held=self.shards.held)
        if not asked:
            return ()
        self.stay_awake()
        rooms = {path[2]: room for path, room in asked.items()}
        found = ready.source.claim(connection, run=self.run, rooms=rooms, batch=batch)
        if len(found) < batch:
            given = Counter(row.channel_id for row in found)
            for path, room in asked.items():
                if given[path[2]] < room and not ready.source.has_more(path[2]):
                    ready.remove(path)
        return found

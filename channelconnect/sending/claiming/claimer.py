"""The thread that claims messages: as many as each channel has room for, sources in the order of their priority."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from time import monotonic

from django.db import connection as project

from channelconnect.sending.brakes import Brakes
from channelconnect.sending.channels import ChannelSnapshot, read_channels
from channelconnect.sending.claiming.ready import ReadyChannels
from channelconnect.sending.claiming.rooms import Rooms, SendingRoom
from channelconnect.sending.sources import ClaimedMessage, MessageSource, is_urgent
from channelconnect.sending.transactions import prepare_session
from config.celery import wake_up_now
from config.leases.claimer import Claimer, Demand
from config.leases.connections import Connection
from config.leases.runs import OwnedShards, WorkerRuns, shard_of
from config.metrics import observe
from config.postgresql.concurrency import AdvisoryLock
from workspaces.conversations.services.sending import SENDER


def runs_over(sources: Sequence[MessageSource]) -> WorkerRuns:
    """Return the senders' runs. An ended run is forgotten once all sources have freed its claims."""

    def free(connection: Connection, runs: Iterable[int], after: int, died: bool) -> int | None:
        numbers = list(runs)
        left = [source for source in sources if source.free(connection, runs=numbers)]
        return after if left else None

    return WorkerRuns(table="channelconnect_senderrun", presence=AdvisoryLock.SENDER_RUN.value, free=free)


class MessageClaimer(Claimer[SendingRoom]):
    """Claims messages and hands batches to `deliver` with their channels, or None if these could not be read."""

    name = "sender claimer"
    longest_attempt_seconds = 15.5  # fifteen seconds, and a margin

    def __init__(
        self,
        run: int,
        sources: Sequence[MessageSource],
        demand: Demand[SendingRoom],
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

    def keep_only(self, busy: Iterable[int]) -> None:
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

    def claim(self, connection: Connection, capacity: SendingRoom) -> int:
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
        self, ready: ReadyChannels, connection: Connection, capacity: SendingRoom, before: Sequence[ClaimedMessage]
    ) -> Sequence[ClaimedMessage]:
        """Claim a source's messages, with turns for agencies, within the room that earlier sources have left."""
        urgent = is_urgent(ready.source)
        batch = (capacity.batch if urgent else capacity.bulk) - len(before)
        if batch <= 0:
            return ()
        ready.look(connection, held=self.shards.held)
        asked = ready.choose(Rooms(capacity.limits, before, is_urgent=urgent), held=self.shards.held)
        if not asked:
            return ()
        self.stay_awake()
        rooms = {path[1]: room for path, room in asked.items()}
        found = ready.source.claim(connection, run=self.run, rooms=rooms, batch=batch)
        if len(found) < batch:
            given = Counter(row.channel_id for row in found)
            for path, room in asked.items():
                if given[path[1]] < room and not ready.source.has_more(path[1]):
                    ready.remove(path)
        return found

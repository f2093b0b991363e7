"""The channels with messages of one source, and their turns. They are looked up from time to time."""

from collections.abc import Collection, Container
from itertools import islice
from time import monotonic
from typing import Final

from channelconnect.sending.claiming.rooms import Rooms
from channelconnect.sending.sources import MessageSource
from config.leases.backlog import Path, RoundRobin
from config.leases.connections import Connection
from config.leases.runs import shard_of

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

    def choose(self, rooms: Rooms, *, held: Container[int]) -> dict[Path, int]:
        """Choose channels, with turns for agencies, and return their room. It passes over other senders' channels."""

        def is_skipped(path: Path) -> bool:
            if len(path) == 1:
                return rooms.of_agency(path[0]) <= 0
            return shard_of(path[1]) not in held or rooms.of_channel(path[1]) <= 0

        in_turn = self._turns.in_turn(most_of_each=CHANNELS_PER_AGENCY, is_skipped=is_skipped)
        chosen: dict[Path, int] = {}
        for path in islice(in_turn, CHANNELS_PER_CLAIM):
            chosen[path] = rooms.of_channel(path[1])
            rooms.reserve(path[1], chosen[path])
        for path in chosen:
            self._turns.end_turn(path)
        return chosen

    def remove(self, path: Path) -> None:
        """Remove a channel that has nothing left."""
        self._paths.discard(path)
        self._turns.remove(path)

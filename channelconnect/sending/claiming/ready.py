"""Which channels have something to send, by one source, and whose turn it is: looked up now and then."""

from collections.abc import Collection, Container
from itertools import islice
from time import monotonic
from typing import Final

from channelconnect.sending.claiming.rooms import Rooms
from channelconnect.sending.sources import MessageSource
from config.leases.connection import Connection
from config.leases.shards import shard_of
from config.leases.turns import Path, Turns

CHANNELS_PER_CLAIM: Final = 256
CHANNELS_PER_AGENCY: Final = 64
# Looking takes a tenth of the time at most, however many channels there are and however often there is news.
REST_FOR_EACH_LOOK: Final = 9.0


class ReadyChannels:
    """Only the claimer's thread uses it, but for `has_news`, which anybody may set."""

    def __init__(self, source: MessageSource) -> None:
        self.source = source
        self.has_news = True
        self._turns = Turns()
        self._paths: set[Path] = set()
        self._rests_until = 0.0

    @property
    def may_have_more(self) -> bool:
        return self.has_news or bool(self._paths)

    def look(self, connection: Connection, *, held: Collection[int]) -> None:
        """Look for channels where there may be others than before; those of other senders are left aside."""
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
        """Give one channel of each agency in turn, those of other senders aside, and how many there is room for."""

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
        """Take a channel out that has nothing left."""
        self._paths.discard(path)
        self._turns.remove(path)

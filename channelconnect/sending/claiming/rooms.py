"""The room that the loop has for a claim, minus what the claim has taken so far."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from channelconnect.sending.limits import SendingLimits
from channelconnect.sending.sources import ClaimedMessage


class SendingRoom(NamedTuple):
    """The room for a claim: `batch` in all, `bulk` if urgent messages keep their share; `busy` channels have calls."""

    batch: int
    bulk: int
    limits: SendingLimits
    busy: Sequence[int] = ()


NO_ROOM = SendingRoom(0, 0, SendingLimits())


class Rooms:
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

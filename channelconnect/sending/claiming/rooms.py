"""What the loop can take of one claim, as far as the claim has come."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from channelconnect.sending.limits import SendingLimits
from channelconnect.sending.sources import ClaimedMessage


class SendingRoom(NamedTuple):
    """`batch` in all, `bulk` where urgent messages are left their share; `busy` are the channels with calls out."""

    batch: int
    bulk: int
    limits: SendingLimits
    busy: Sequence[int] = ()


NO_ROOM = SendingRoom(0, 0, SendingLimits())


class Rooms:
    """What is left for one source. The limits do not know yet what this claim has taken for the others before it."""

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
        """Keep so much of what brakes leave for a channel: what others share with it is less by that."""
        for scope in self._limits.brakes_of(channel):
            self._braked[scope] += number

    def of_agency(self, agency: int) -> int:
        return self._limits.agency_room(agency, is_urgent=self._is_urgent) - self._agencies[agency]

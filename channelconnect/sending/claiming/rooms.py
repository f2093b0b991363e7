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

    def of_channel(self, channel: int) -> int:
        return self._limits.room(channel, is_urgent=self._is_urgent) - self._channels[channel]

    def of_agency(self, agency: int) -> int:
        return self._limits.agency_room(agency, is_urgent=self._is_urgent) - self._agencies[agency]

"""A source with a mass of messages that nobody waits for, as broadcasts are one."""

import threading
from collections import deque
from collections.abc import Collection, Mapping, Sequence

from django.utils.timezone import now

from channelconnect.providers.messages import OutgoingMessage, Recipient
from channelconnect.sending.conversations import ConversationMessages
from channelconnect.sending.sources import ClaimedMessage, MessageResult, ReadyChannel, SourceState
from config.leases.connections import Connection
from workspaces.subaccounts.models import Channel


class Mass:
    """So many messages of each channel, kept in memory; what was recorded is counted."""

    name = "mass"
    priority = 10
    keeps_order = False

    def __init__(self, channels: Sequence[Channel], each: int) -> None:
        self.claims = self.claimed = self.recorded = 0
        self._lock = threading.Lock()
        self._agencies = {channel.pk: channel.workspace.agency_id for channel in channels}
        self._workspaces = {channel.pk: channel.workspace_id for channel in channels}
        self._waiting = {channel.pk: deque(range(each)) for channel in channels}

    def advance(self, connection: Connection) -> SourceState:
        """Nothing is put off."""
        return SourceState(any(self._waiting.values()), is_soon=False)

    def ready_channels(self, connection: Connection, shards: Collection[int]) -> Sequence[ReadyChannel]:
        waiting = [channel for channel, rows in self._waiting.items() if rows]
        return [ReadyChannel(self._agencies[one], self._workspaces[one], one) for one in waiting]

    def claim(
        self, connection: Connection, *, run: int, rooms: Mapping[int, int], batch: int
    ) -> Sequence[ClaimedMessage]:
        found: list[ClaimedMessage] = []
        for channel, room in rooms.items():
            while room > 0 and len(found) < batch and self._waiting[channel]:
                room -= 1
                found.append(self._claimed(channel, self._waiting[channel].popleft()))
        with self._lock:
            self.claims += 1
            self.claimed += len(found)
        return found

    def has_more(self, channel: int) -> bool:
        return False

    def record(self, connection: Connection, *, run: int, results: Sequence[MessageResult]) -> int:
        with self._lock:
            self.recorded += len(results)
        return len(results)

    def give_back(self, connection: Connection, *, run: int, ids: Sequence[int]) -> None:
        """The test is over then."""

    def free(self, connection: Connection, *, runs: Sequence[int]) -> bool:
        """No run of a test is lost."""
        return False

    def _claimed(self, channel: int, number: int) -> ClaimedMessage:
        to = Recipient(external_id=f"4915{channel:05d}{number:06d}")
        message = OutgoingMessage(opaque=f"mass-{channel}-{number}", to=to, type="text", text="Our news")
        return ClaimedMessage(self.name, number, self._agencies[channel], channel, None, 0, now(), message)


class WatchedConversations(ConversationMessages):
    """Conversations' messages; `claims_before` is how often a mass was claimed from before each of theirs."""

    def __init__(self, mass: Mass) -> None:
        self.claims_before: list[int] = []
        self._mass = mass

    def claim(
        self, connection: Connection, *, run: int, rooms: Mapping[int, int], batch: int
    ) -> Sequence[ClaimedMessage]:
        found = super().claim(connection, run=run, rooms=rooms, batch=batch)
        self.claims_before += [self._mass.claims] * len(found)
        return found

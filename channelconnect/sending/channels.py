"""The sender's knowledge of channels: their address at the provider, their token, and whether they may send."""

import logging
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from channelconnect.models import ChannelCredential
from config.encryption import UnreadableSecret
from config.leases.connections import Connection
from config.postgresql.arrays import integers

logger = logging.getLogger(__name__)

READ = """
SELECT channel.id, channel.workspace_id, channel.platform, channel.status, channel.external_id,
    credential.container_id, credential.token, coalesce(credential.throughput, ''),
    channel.connected_at
FROM subaccounts_channel channel LEFT JOIN channelconnect_channelcredential credential
    ON credential.channel_id = channel.id
WHERE channel.id = ANY (%(ids)s::bigint[])
"""


class ChannelSnapshot(NamedTuple):
    """A channel as it was when its messages were claimed. The token is still encrypted.

    Each new connection brings another token and another `connected_at`.
    """

    id: int
    workspace_id: int
    platform: str
    status: str
    external_id: str
    container_id: str | None
    sealed_token: bytes | None
    throughput: str = ""
    connected_at: datetime | None = None

    @property
    def is_usable(self) -> bool:
        return self.status == "active" and self.sealed_token is not None

    @property
    def account(self) -> str:
        """The account at the provider whose limits its messages use, beside the app's: its container."""
        return self.container_id or self.external_id

    @property
    def sender_id(self) -> str:
        """The id whose messages endpoint it sends through: the number, or the Page, for Instagram too."""
        return self.external_id if self.platform == "whatsapp" else self.container_id or self.external_id


def read_channels(connection: Connection, ids: Iterable[int]) -> list[ChannelSnapshot]:
    with connection.cursor(binary=True) as cursor:
        cursor.execute(READ, {"ids": integers(ids)}, prepare=True)
        return [ChannelSnapshot._make(row) for row in cursor.fetchall()]


class KnownChannels:
    """The channels as they were last read, with their tokens. Only the loop's thread uses it."""

    def __init__(self) -> None:
        self._snapshots: dict[int, ChannelSnapshot] = {}
        self._tokens: dict[int, tuple[bytes, str]] = {}

    def take(self, snapshots: Iterable[ChannelSnapshot]) -> None:
        self._snapshots.update((snapshot.id, snapshot) for snapshot in snapshots)

    def get(self, channel: int) -> ChannelSnapshot | None:
        return self._snapshots.get(channel)

    def token_of(self, snapshot: ChannelSnapshot) -> str | None:
        """Return the token; None if it cannot be decrypted."""
        sealed = snapshot.sealed_token
        if sealed is None:
            return None
        known = self._tokens.get(snapshot.id)
        if known is None or known[0] != sealed:
            opened = _opened(sealed, snapshot.id)
            if opened is None:
                return None
            known = self._tokens[snapshot.id] = (sealed, opened)
        return known[1]


def _opened(sealed: bytes, channel: int) -> str | None:
    field: Any = ChannelCredential._meta.get_field("token")
    try:
        opened: str = field.open(sealed, row=str(channel))
    except UnreadableSecret:
        logger.error("a channel's token is unreadable", extra={"channel": channel})
        return None
    return opened

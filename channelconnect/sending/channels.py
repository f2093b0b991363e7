"""The sender's knowledge of channels: their route to the provider, their token, and whether they may send."""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from datetime import datetime
from typing import Any, Final, NamedTuple

from channelconnect.models import ChannelCredential
from channelconnect.providers.messages import messages_endpoint
from channelconnect.providers.settings import ProviderSettings
from config.encryption import UnreadableSecret
from config.http.guard import VettedTarget, canonical, parse_target
from config.http.resolver import Addresses, LookupFailed, Resolver
from config.leases.connections import Connection
from config.postgresql.arrays import integers

logger = logging.getLogger(__name__)

READ = """
SELECT channel.id, channel.workspace_id, channel.platform, channel.status, channel.external_id,
    credential.container_id, credential.token,
    CASE WHEN channel.is_on_business_app THEN 'BUSINESS_APP' ELSE coalesce(credential.throughput, '') END,
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


REMEMBER_SECONDS: Final = 5.0


class ProviderAddress:
    """The addresses of one host. Only the loop's thread uses it; another thread calls `on_answer`."""

    def __init__(self, url: str, on_answer: Callable[[], None]) -> None:
        self._target = parse_target(f"{url}/")
        self._on_answer = on_answer
        self._resolver = Resolver(ttl_s=REMEMBER_SECONDS)
        self._answer: Future[Addresses] | None = None

    def find(self) -> Addresses | None:
        """Return the addresses, or None while the look-up runs. Raises `LookupFailed`."""
        if self._target.address is not None:
            return (self._target.address,)
        known = self._resolver.remembered(self._target.host)
        if known is not None:
            return known
        if self._answer is None:
            self._answer = self._resolver.submit(self._target.host)
            self._answer.add_done_callback(lambda _: self._on_answer())
        if not self._answer.done():
            return None
        answer, self._answer = self._answer, None
        found = answer.result(timeout=0)
        if not found:
            raise LookupFailed
        return found

    def close(self) -> None:
        self._resolver.close()


def vetted_target(url: str, addresses: Addresses) -> VettedTarget:
    """Return a URL of the provider with its addresses. The installation configures it, so any address is allowed."""
    return VettedTarget(parse_target(url), tuple(map(canonical, addresses)))


MOST_KNOWN = 10_000


class Route(NamedTuple):
    addresses: Addresses
    way: VettedTarget
    headers: tuple[tuple[str, str], ...]


class Routes:
    """The known routes. Only the loop's thread uses it."""

    def __init__(self, settings: ProviderSettings) -> None:
        self._settings = settings
        self._known: dict[tuple[str, str], Route] = {}

    def find(self, path: str, token: str, addresses: Addresses) -> Route:
        known = self._known.get((path, token))
        if known is None or known.addresses != addresses:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            known = self._known[path, token] = self._make(path, token, addresses)
        return known

    def _make(self, path: str, token: str, addresses: Addresses) -> Route:
        endpoint = messages_endpoint(self._settings, path=path, token=token)
        return Route(addresses, vetted_target(endpoint.url, addresses), endpoint.headers)

"""Computes the route of a channel's messages once for all of them."""

from typing import NamedTuple

from channelconnect.providers import ProviderSettings
from channelconnect.providers.messages import messages_endpoint
from channelconnect.sending.calling.address import way_to
from config.http.guard import VettedTarget
from config.http.resolver import Addresses

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

    def find(self, sender_id: str, token: str, addresses: Addresses) -> Route:
        known = self._known.get((sender_id, token))
        if known is None or known.addresses != addresses:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            known = self._known[sender_id, token] = self._make(sender_id, token, addresses)
        return known

    def _make(self, sender_id: str, token: str, addresses: Addresses) -> Route:
        endpoint = messages_endpoint(self._settings, sender_id=sender_id, token=token)
        return Route(addresses, way_to(endpoint.url, addresses), endpoint.headers)

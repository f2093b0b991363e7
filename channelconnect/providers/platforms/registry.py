"""Finds the client of a platform."""

from functools import lru_cache

from channelconnect.providers.faults import ProviderFault
from channelconnect.providers.graph.transport import Limits, Transport
from channelconnect.providers.platforms.pages import Facebook, Instagram
from channelconnect.providers.platforms.provider import Provider
from channelconnect.providers.platforms.whatsapp import WhatsApp
from channelconnect.providers.settings import ProviderSettings, provider_settings

CLIENTS: dict[str, type[Provider]] = {client.platform: client for client in (WhatsApp, Facebook, Instagram)}


def provider_for(platform: str, *, settings: ProviderSettings | None = None, limits: Limits | None = None) -> Provider:
    """Return a platform's client. Raises `ProviderFault("provider_not_configured")` if it is not set up.

    Calls of one process share their connections.
    """
    chosen = settings or provider_settings()
    client = CLIENTS.get(platform)
    if client is None or not client.is_set_up(chosen):
        raise ProviderFault("provider_not_configured", platform=platform)
    return client(chosen, _transport(limits or Limits()))


@lru_cache(maxsize=8)
def _transport(limits: Limits) -> Transport:
    return Transport(limits)

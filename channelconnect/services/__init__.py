"""Every change of a connect session: one verb, one function, one transaction."""

from channelconnect.services.endings import connection_payload, end_session, expire_sessions
from channelconnect.services.flow import OtherBrowser, arrive, choose, depart
from channelconnect.services.opening import ConnectionNotFound, Wish, cancel_session, connect_url, create_session
from channelconnect.services.settings import ConnectIsOff, set_return_urls, settings_of, switch_connect

__all__ = [
    "ConnectIsOff",
    "ConnectionNotFound",
    "OtherBrowser",
    "Wish",
    "arrive",
    "cancel_session",
    "choose",
    "connect_url",
    "connection_payload",
    "create_session",
    "depart",
    "end_session",
    "expire_sessions",
    "set_return_urls",
    "settings_of",
    "switch_connect",
]

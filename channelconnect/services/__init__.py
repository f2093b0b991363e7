"""Every change of a connect session: one verb, one function, one transaction."""

from channelconnect.services.endings import connection_payload, end_session, expire_sessions
from channelconnect.services.finding import session_of_id, session_of_link, session_of_state, status_at
from channelconnect.services.flow import (
    Answer,
    NotNow,
    OtherBrowser,
    Paused,
    arrive,
    choose,
    decline,
    depart,
    discovered,
    is_bound_to,
    refuse_other_browser,
)
from channelconnect.services.inbox import forget_notices, read_next_notices, store_notice
from channelconnect.services.opening import ConnectionNotFound, Wish, cancel_session, connect_url, create_session
from channelconnect.services.returning import return_host, way_back
from channelconnect.services.settings import (
    ConnectIsOff,
    require_connect,
    set_return_urls,
    settings_of,
    switch_connect,
)

__all__ = [
    "Answer",
    "ConnectIsOff",
    "ConnectionNotFound",
    "NotNow",
    "OtherBrowser",
    "Paused",
    "Wish",
    "arrive",
    "cancel_session",
    "choose",
    "connect_url",
    "connection_payload",
    "create_session",
    "decline",
    "depart",
    "discovered",
    "end_session",
    "expire_sessions",
    "forget_notices",
    "is_bound_to",
    "read_next_notices",
    "refuse_other_browser",
    "require_connect",
    "return_host",
    "session_of_id",
    "session_of_link",
    "session_of_state",
    "set_return_urls",
    "settings_of",
    "status_at",
    "store_notice",
    "switch_connect",
    "way_back",
]

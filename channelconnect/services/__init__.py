"""Services of connect sessions. Each change is one function and one transaction."""

from channelconnect.services.sessions.creation import KeyTaken, create_session, keep_idempotency_key
from channelconnect.services.sessions.ending import cancel_session, end_session, expire_sessions
from channelconnect.services.sessions.flow import (
    AuthorizationResponse,
    OtherBrowser,
    TenantSuspended,
    WrongStatus,
    authorized_accounts,
    complete_authorization,
    decline_session,
    is_bound_to,
    require_active_tenant,
    require_same_browser,
    select_account,
    start_authorization,
)
from channelconnect.services.sessions.lookup import (
    ConnectionNotFound,
    session_by_id,
    session_by_key,
    session_by_link,
    session_by_state,
)
from channelconnect.services.sessions.snapshots import connect_url, pending_snapshot_of, snapshot_of, status_at
from channelconnect.services.settings import (
    ConnectIsOff,
    build_return_url,
    require_connect,
    return_host,
    set_return_urls,
    settings_of,
    switch_connect,
)
from channelconnect.services.subscriptions import AccountBusy, release_access
from channelconnect.services.unsubscribing import unsubscribe_next

__all__ = [
    "AccountBusy",
    "AuthorizationResponse",
    "ConnectIsOff",
    "ConnectionNotFound",
    "KeyTaken",
    "OtherBrowser",
    "TenantSuspended",
    "WrongStatus",
    "authorized_accounts",
    "build_return_url",
    "cancel_session",
    "complete_authorization",
    "connect_url",
    "create_session",
    "decline_session",
    "end_session",
    "expire_sessions",
    "is_bound_to",
    "keep_idempotency_key",
    "pending_snapshot_of",
    "release_access",
    "require_active_tenant",
    "require_connect",
    "require_same_browser",
    "return_host",
    "select_account",
    "session_by_id",
    "session_by_key",
    "session_by_link",
    "session_by_state",
    "set_return_urls",
    "settings_of",
    "snapshot_of",
    "start_authorization",
    "status_at",
    "switch_connect",
    "unsubscribe_next",
]

"""A session as the agency sees it at a moment. Past its time it has expired, even before the sweep ends it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from agency.services.hosts import base_url_of
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSnapshot:
    """A connection in status reads and events; all ids are public."""

    id: UUID
    workspace_id: UUID
    platform: str
    status: str
    channel_id: UUID | None
    error_code: str | None
    state: str | None
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSnapshot(ConnectionSnapshot):
    """A pending connection, with the secret address for the customer's browser."""

    connect_url: str = field(repr=False)


def status_at(session: ConnectSession, now: datetime) -> tuple[str, str | None]:
    """Return the status and the error code at a moment."""
    if session.is_open and session.expires_at <= now:
        return Status.EXPIRED.value, "session_expired"
    return Status(session.status).value, session.error_code


def connect_url(session: ConnectSession, *, now: datetime) -> str | None:
    """Return the secret address for the customer's browser while the session is pending."""
    if session.status != Status.PENDING or session.link is None or session.expires_at <= now:
        return None
    return f"{base_url_of(session.agency_id)}/connect/{session.link}"


def snapshot_of(session: ConnectSession, *, now: datetime) -> ConnectionSnapshot:
    return ConnectionSnapshot(**_values(session, now))


def pending_snapshot_of(session: ConnectSession, *, now: datetime) -> PendingSnapshot | None:
    """Return a pending session with its secret address; None once it is no longer pending."""
    url = connect_url(session, now=now)
    return None if url is None else PendingSnapshot(**_values(session, now), connect_url=url)


def _values(session: ConnectSession, now: datetime) -> dict[str, Any]:
    status, error_code = status_at(session, now)
    return {
        "id": session.uuid,
        "workspace_id": session.workspace.uuid,
        "platform": session.platform,
        "status": status,
        "channel_id": session.channel.uuid if session.channel else None,
        "error_code": error_code,
        "state": session.state,
        "expires_at": session.expires_at,
    }

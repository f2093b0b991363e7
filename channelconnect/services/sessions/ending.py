"""Ends a session: once, with its event in the same transaction, and with its secrets erased."""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import Actor
from agency.models import Agency
from agency.services import record_activity, record_event
from agency.services.hosts import base_url_of
from agency.tenants import Tenant
from channelconnect.models import ConnectSession, sessions
from channelconnect.models.sessions import SessionStatus
from config.db import TimeOrExpression
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services.workspaces import MoveHandler

# Past its time it has expired, even before the sweep ends it.


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
        return SessionStatus.EXPIRED.value, "session_expired"
    return SessionStatus(session.status).value, session.error_code


def connect_url(session: ConnectSession, *, now: datetime) -> str | None:
    """Return the secret address for the customer's browser while the session is pending."""
    if session.status != SessionStatus.PENDING or session.link is None or session.expires_at <= now:
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


EVENTS = {
    SessionStatus.CONNECTED: sessions.COMPLETED,
    SessionStatus.FAILED: sessions.FAILED,
    SessionStatus.CANCELLED: sessions.CANCELLED,
    SessionStatus.EXPIRED: sessions.EXPIRED,
}


@transaction.atomic
def end_session(
    *,
    session: ConnectSession,
    status: SessionStatus,
    now: datetime,
    by: Actor,
    error_code: str | None = None,
    channel: Channel | None = None,
) -> bool:
    """End an open session and record the event. Returns False if it had already ended; that end stays.

    A session past its time already reads as expired, so it can end only in that way.
    """
    still_open = ConnectSession.objects.open().filter(pk=session.pk)
    changed = (still_open if status == SessionStatus.EXPIRED else still_open.in_time()).update(
        status=status, error_code=error_code, channel=channel, ended_at=now, link=None, grant=None, state_digest=None
    )
    session.refresh_from_db()
    if not changed:
        return False
    record_event(
        tenant=Tenant(session.agency_id),
        name=EVENTS[status],
        data=asdict(snapshot_of(session, now=now)),
        now=now,
        workspace_uuid=session.workspace.uuid,
    )
    record_activity(
        by=by,
        action=f"connect.{status}",
        agency_id=session.agency_id,
        workspace_uuid=session.workspace.uuid,
        target=("connection", session.uuid, session.platform),
        details={"error_code": error_code} if error_code else None,
    )
    return True


def expire_if_due(*, session: ConnectSession, now: datetime, by: Actor) -> None:
    """End a session whose time is over."""
    if session.is_open and session.expires_at <= now:
        end_session(session=session, status=SessionStatus.EXPIRED, error_code="session_expired", now=now, by=by)


def cancel_session(*, session: ConnectSession, now: datetime, by: Actor) -> ConnectSession:
    """Cancel an open session. An ended session stays as it is."""
    expire_if_due(session=session, now=now, by=by)
    if session.is_open:
        end_session(session=session, status=SessionStatus.CANCELLED, now=now, by=by)
    return session


def expire_sessions(*, now: datetime, by: Actor, batch: int = 500) -> int:
    """End open sessions whose time is over. Returns how many."""
    return sum(
        end_session(session=session, status=SessionStatus.EXPIRED, error_code="session_expired", now=now, by=by)
        for session in expired_sessions(now).select_related("workspace")[:batch]
    )


def expired_sessions(now: TimeOrExpression) -> "QuerySet[ConnectSession]":
    """Return the open sessions whose time is over, in their order."""
    return ConnectSession.objects.open().filter(expires_at__lte=now).order_by("expires_at")


def _cancel_open(workspace: Workspace, target: Agency, now: datetime, by: Actor) -> None:
    """Cancel the old agency's open sessions, because they lead back to a page of that agency."""
    for session in ConnectSession.objects.open().filter(workspace=workspace).select_related("workspace"):
        cancel_session(session=session, now=now, by=by)


CONNECTIONS = MoveHandler("connections", _cancel_open)

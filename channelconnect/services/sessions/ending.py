"""Ends a session: once, with its event in the same transaction, and with its secrets erased."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import Actor
from agency.services import record_activity, record_event
from agency.tenants import Tenant
from channelconnect import events
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import Status
from channelconnect.services.sessions.snapshots import snapshot_of
from config.db import TimeOrExpression
from workspaces.subaccounts.models import Channel

EVENTS = {
    Status.CONNECTED: events.COMPLETED,
    Status.FAILED: events.FAILED,
    Status.CANCELLED: events.CANCELLED,
    Status.EXPIRED: events.EXPIRED,
}


@transaction.atomic
def end_session(
    *,
    session: ConnectSession,
    status: Status,
    now: datetime,
    by: Actor,
    error_code: str | None = None,
    channel: Channel | None = None,
) -> bool:
    """End an open session and record the event. Returns False if it had already ended; that end stays.

    A session past its time already reads as expired, so it can end only in that way.
    """
    still_open = ConnectSession.objects.open().filter(pk=session.pk)
    changed = (still_open if status == Status.EXPIRED else still_open.in_time()).update(
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
        end_session(session=session, status=Status.EXPIRED, error_code="session_expired", now=now, by=by)


def cancel_session(*, session: ConnectSession, now: datetime, by: Actor) -> ConnectSession:
    """Cancel an open session. An ended session stays as it is."""
    expire_if_due(session=session, now=now, by=by)
    if session.is_open:
        end_session(session=session, status=Status.CANCELLED, now=now, by=by)
    return session


def expire_sessions(*, now: datetime, by: Actor, batch: int = 500) -> int:
    """End open sessions whose time is over. Returns how many."""
    return sum(
        end_session(session=session, status=Status.EXPIRED, error_code="session_expired", now=now, by=by)
        for session in expired_sessions(now).select_related("workspace")[:batch]
    )


def expired_sessions(now: TimeOrExpression) -> "QuerySet[ConnectSession]":
    """Return the open sessions whose time is over, in their order."""
    return ConnectSession.objects.open().filter(expires_at__lte=now).order_by("expires_at")

"""Starting, reading and cancelling a connect session, as the agency does."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.models import Agency
from agency.services import record_activity
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import Status
from channelconnect.services.endings import end_session, settle_time
from channelconnect.services.finding import digest, new_secret
from channelconnect.services.settings import require_connect
from config.errors import Conflict, Invalid, NotFound
from workspaces.subaccounts.models import Channel, Workspace

LIFETIME = timedelta(minutes=30)
KEY_LIFETIME = timedelta(hours=24)


class ConnectionNotFound(NotFound):
    message = "Connection not found."


class SubAccountSuspended(Conflict):
    message = "This sub-account is suspended."


class ReturnUrlNotRegistered(Invalid):
    field = "return_url"
    message = "This return URL is not registered for the agency."


class ChannelToReconnectNotFound(Invalid):
    field = "channel_id"
    message = "The sub-account has no such channel on this platform."


class KeyUsedOtherwise(Conflict):
    message = "This Idempotency-Key was already used with another request."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the agency asks for; `reconnect` is the public id of the channel to connect again."""

    platform: str
    return_url: str
    state: str | None = None
    reconnect: UUID | None = None

    def fingerprint(self, workspace: Workspace) -> bytes:
        words = [str(workspace.uuid), self.platform, self.return_url, self.state, str(self.reconnect or "")]
        return hashlib.sha256(json.dumps(words).encode()).digest()


def create_session(
    *, agency: Agency, workspace: Workspace, wish: Wish, now: datetime, by: Actor, idempotency_key: str | None = None
) -> tuple[ConnectSession, bool]:
    """Start a session; the second value is False where the same request with the same key had started it.

    Raises `ConnectIsOff`, `SubAccountSuspended`, `ReturnUrlNotRegistered`, `ChannelToReconnectNotFound`, and
    `KeyUsedOtherwise` for a key that stands for another request.
    """
    earlier = _earlier(agency, workspace, wish, idempotency_key, now)
    if earlier:
        return earlier, False
    try:
        with transaction.atomic():
            return _create(agency, workspace, wish, now, by, idempotency_key), True
    except IntegrityError:
        earlier = _earlier(agency, workspace, wish, idempotency_key, now)
        if earlier is None:
            raise
        return earlier, False


def _earlier(agency: Agency, workspace: Workspace, wish: Wish, key: str | None, now: datetime) -> ConnectSession | None:
    if key is None:
        return None
    sessions = ConnectSession.objects.of(agency).select_related("workspace", "channel")
    earlier = sessions.filter(idempotency_key=key, created_at__gt=now - KEY_LIFETIME).first()
    if earlier is not None and bytes(earlier.fingerprint or b"") != wish.fingerprint(workspace):
        raise KeyUsedOtherwise
    return earlier


def _create(
    agency: Agency, workspace: Workspace, wish: Wish, now: datetime, by: Actor, key: str | None
) -> ConnectSession:
    allowed = require_connect(agency)
    if not workspace.is_active:
        raise SubAccountSuspended
    if wish.return_url not in allowed.return_urls:
        raise ReturnUrlNotRegistered
    if key is not None:
        _free_old_key(agency, key, now)
    link = new_secret()
    session = ConnectSession.objects.create(
        agency=agency,
        workspace=workspace,
        platform=wish.platform,
        return_url=wish.return_url,
        state=wish.state,
        target=_target(workspace, wish),
        link_digest=digest(link),
        link=link,
        idempotency_key=key,
        fingerprint=wish.fingerprint(workspace) if key else None,
        created_by=by.label,
        created_at=now,
        expires_at=now + LIFETIME,
    )
    record_activity(
        by=by,
        action="connect.started",
        agency_id=agency.pk,
        workspace_uuid=workspace.uuid,
        target=("connection", session.uuid, session.platform),
    )
    return session


def _free_old_key(agency: Agency, key: str, now: datetime) -> None:
    """A key stands for its request for 24 hours."""
    old = ConnectSession.objects.of(agency).filter(idempotency_key=key, created_at__lte=now - KEY_LIFETIME)
    old.update(idempotency_key=None, fingerprint=None)


def _target(workspace: Workspace, wish: Wish) -> Channel | None:
    if wish.reconnect is None:
        return None
    channel: Channel | None = workspace.channels.filter(uuid=wish.reconnect, platform=wish.platform).first()
    if channel is None:
        raise ChannelToReconnectNotFound
    return channel


def cancel_session(*, session: ConnectSession, now: datetime, by: Actor) -> ConnectSession:
    """Abandon an open session; one that has ended stays as it is."""
    settle_time(session=session, now=now, by=by)
    if session.is_open:
        end_session(session=session, status=Status.CANCELLED, now=now, by=by)
    return session


def connect_url(session: ConnectSession, *, now: datetime) -> str | None:
    """The secret address for the customer's browser, while the session is pending."""
    if session.status != Status.PENDING or session.link is None or session.expires_at <= now:
        return None
    return f"{settings.PUBLIC_URL}/connect/{session.link}"

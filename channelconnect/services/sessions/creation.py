"""Starts connect sessions, creates their secrets, and finds them."""

import hashlib
import re
import secrets
from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.models import Agency
from agency.services import record_activity
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import ConnectSessionQuerySet, SessionStatus
from channelconnect.services.settings import customers_may_connect, dashboard_return_url, require_connect
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import ChannelNotFound, WorkspaceNotFound
from workspaces.subaccounts.services.recording import lock_workspace

# Stored digests recognise a session's secrets.


def digest(secret: str) -> bytes:
    """Return the stored form of a secret: SHA-256, 32 bytes."""
    return hashlib.sha256(secret.encode()).digest()


def new_secret() -> str:
    """Return 256 random bits in 43 characters."""
    return secrets.token_urlsafe(32)


def new_state(session: ConnectSession) -> str:
    """Make a state for one trip to the provider and back. It names the session, so even a used state leads there."""
    return session.uuid.hex + new_secret()


LIFETIME = timedelta(minutes=30)
# A waiting session that is given again lasts at least so long.
LEAST_LEFT = timedelta(minutes=10)


class SubAccountSuspended(Conflict):
    message = "This sub-account is suspended."


class ReturnUrlNotRegistered(InvalidInput):
    field = "return_url"
    message = "This return URL is not registered for the agency."


class ChannelOfAnotherPlatform(InvalidInput):
    field = "channel_id"
    message = "This channel is of another platform."


class KeyTaken(Exception):
    """The agency has used this Idempotency-Key for another session."""


@transaction.atomic
def create_session(
    *,
    agency: Agency,
    workspace: Workspace,
    platform: str,
    return_url: str,
    state: str | None = None,
    reconnect: UUID | None = None,
    now: datetime,
    by: Actor,
) -> ConnectSession:
    """Start a session. `reconnect` is the public id of a channel to connect again.

    Raises `ConnectIsOff`, `WorkspaceNotFound` if the workspace has moved to another agency, `SubAccountSuspended`,
    `ReturnUrlNotRegistered`, `ChannelNotFound` for a channel of another sub-account, and `ChannelOfAnotherPlatform`.
    `now` is from the database's clock, like the session's end.
    """
    allowed = require_connect(agency)
    workspace = lock_workspace(workspace)  # nobody moves or suspends it meanwhile
    if workspace.agency_id != agency.pk:
        raise WorkspaceNotFound
    if not workspace.is_active:
        raise SubAccountSuspended
    if return_url not in allowed.return_urls:
        raise ReturnUrlNotRegistered
    target = _target(workspace, platform, reconnect)
    return _create(workspace, target, platform=platform, return_url=return_url, state=state, now=now, by=by)


class CustomersMayNotConnect(Forbidden):
    message = "Your agency connects channels for you."


@transaction.atomic
def start_own_session(
    *, workspace: Workspace, platform: str, reconnect: UUID | None = None, now: datetime, by: Actor
) -> ConnectSession:
    """Start a session for people of the workspace, which returns to their dashboard, or give the one that waits.

    Raises `CustomersMayNotConnect`, `SubAccountSuspended`, `ChannelNotFound` and `ChannelOfAnotherPlatform`.
    """
    workspace = lock_workspace(workspace)  # two requests at once start one session
    if not customers_may_connect(workspace.agency):
        raise CustomersMayNotConnect
    if not workspace.is_active:
        raise SubAccountSuspended
    target, return_url = _target(workspace, platform, reconnect), dashboard_return_url(workspace.agency_id)
    own = ConnectSession.objects.filter(workspace=workspace, platform=platform, target=target, return_url=return_url)
    waiting = own.filter(status=SessionStatus.PENDING, expires_at__gt=now + LEAST_LEFT, link__isnull=False)
    found: ConnectSession | None = waiting.order_by("-created_at", "-id").first()
    return found or _create(workspace, target, platform=platform, return_url=return_url, state=None, now=now, by=by)


def _create(
    workspace: Workspace,
    target: Channel | None,
    *,
    platform: str,
    return_url: str,
    state: str | None,
    now: datetime,
    by: Actor,
) -> ConnectSession:
    link = new_secret()
    session = ConnectSession.objects.create(
        agency_id=workspace.agency_id,
        workspace=workspace,
        platform=platform,
        return_url=return_url,
        state=state,
        target=target,
        link_digest=digest(link),
        link=link,
        created_by=by.label,
        created_at=now,
        expires_at=now + LIFETIME,
    )
    record_activity(
        by=by,
        action="connect.started",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("connection", session.uuid, session.platform),
    )
    return session


def _target(workspace: Workspace, platform: str, reconnect: UUID | None) -> Channel | None:
    if reconnect is None:
        return None
    channel: Channel | None = workspace.channels.filter(uuid=reconnect).first()
    if channel is None:
        raise ChannelNotFound
    if channel.platform != platform:
        raise ChannelOfAnotherPlatform
    return channel


def keep_idempotency_key(*, agency: Agency, connection_id: UUID, key: str, request_digest: bytes) -> None:
    """Save the key of the request that started a session. Raises `KeyTaken`."""
    try:
        with transaction.atomic():
            started = ConnectSession.objects.of(agency).filter(uuid=connection_id)
            started.update(idempotency_key=key, request_digest=request_digest)
    except IntegrityError as error:
        raise KeyTaken from error


STATE = re.compile(r"([0-9a-f]{32})[\w-]{43}", re.ASCII)


class ConnectionNotFound(NotFound):
    message = "Connection not found."


def _sessions() -> ConnectSessionQuerySet:
    return ConnectSession.objects.select_related("agency", "workspace", "channel", "target")


def session_by_link(link: str) -> ConnectSession | None:
    return _sessions().filter(link_digest=digest(link)).first()


def session_by_id(uuid: UUID | None) -> ConnectSession | None:
    return _sessions().filter(uuid=uuid).first() if uuid else None


def session_by_state(state: str) -> ConnectSession | None:
    """Find the session that a provider's state names, even if the state or the session is used up."""
    found = STATE.fullmatch(state)
    return session_by_id(UUID(found[1])) if found else None


def session_by_key(agency: Agency, key: str) -> ConnectSession | None:
    """Find the session that the agency started with this Idempotency-Key."""
    return _sessions().of(agency).filter(idempotency_key=key).first()

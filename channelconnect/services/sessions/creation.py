"""Starts connect sessions."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.models import Agency
from agency.services import record_activity
from channelconnect.models import ConnectSession
from channelconnect.services.sessions.secrets import digest, new_secret
from channelconnect.services.settings import require_connect
from config.errors import Conflict, InvalidInput
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import ChannelNotFound, WorkspaceNotFound
from workspaces.subaccounts.services.recording import lock_workspace

LIFETIME = timedelta(minutes=30)


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
    link = new_secret()
    session = ConnectSession.objects.create(
        agency=agency,
        workspace=workspace,
        platform=platform,
        return_url=return_url,
        state=state,
        target=_target(workspace, platform, reconnect),
        link_digest=digest(link),
        link=link,
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

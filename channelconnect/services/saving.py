"""The chosen account becomes a channel: its rules, checked before the provider is asked and again under the lock."""

from datetime import datetime

from django.db import IntegrityError, transaction

from agency.actors import Actor
from channelconnect.models import ChannelCredential, ConnectSession
from channelconnect.models.sessions import Status
from channelconnect.providers import Account, Grant
from channelconnect.services.ending import end_session
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import AccountConnectedElsewhere, LimitReached, require_room, save_channel
from workspaces.subaccounts.services.locking import lock


class Refused(Exception):
    """The chosen account cannot be connected; `code` is the session's error code."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


def check_choice(*, session: ConnectSession, account: Account) -> Channel | None:
    """Check target, freedom and room before the provider is asked. Raises `Refused`.

    Gives the sub-account's channel that comes back: the one asked for, or the one that holds the account already.
    """
    if session.target is not None and session.target.external_id != account.external_id:
        raise Refused("reconnection_target_mismatch")
    holder = _holder(session, account)
    if holder is not None and holder.workspace_id != session.workspace_id:
        raise Refused("account_already_connected_elsewhere")
    is_connected = session.target is not None and session.target.status != Channel.Status.DISCONNECTED
    if holder is None and not is_connected:
        _check_room(session)
    return session.target or holder


def _holder(session: ConnectSession, account: Account) -> Channel | None:
    held = Channel.objects.filter(platform=session.platform, external_id=account.external_id)
    return held.exclude(status=Channel.Status.DISCONNECTED).first()


def _check_room(session: ConnectSession) -> None:
    workspace = session.workspace
    workspace.refresh_from_db()
    connected = workspace.channels.filter(platform=session.platform).exclude(status=Channel.Status.DISCONNECTED)
    try:
        require_room(workspace=workspace, name=f"channels.{session.platform}", used=connected.count())
    except LimitReached as error:
        raise Refused("channel_limit_reached") from error


@transaction.atomic
def save_choice(*, session: ConnectSession, account: Account, grant: Grant, now: datetime, by: Actor) -> None:
    """Save the channel and end the session connected, in one transaction. Raises `Refused` for a race that was lost.

    A session that ended meanwhile, or whose time is over, leaves no channel behind.
    """
    workspace = lock(session.workspace)
    locked = ConnectSession.objects.select_for_update(no_key=True).open().in_time().filter(pk=session.pk).first()
    if locked is None:
        return
    channel = _reconnect(session, account, now) or _connect(session, account, now, by)
    ChannelCredential.objects.update_or_create(
        channel=channel,
        defaults={
            "token": account.token or grant.token,
            "container_id": account.container_id,
            "expires_at": grant.expires_at,
        },
    )
    session.workspace = workspace
    end_session(session=session, status=Status.CONNECTED, channel=channel, now=now, by=by)


def _reconnect(session: ConnectSession, account: Account, now: datetime) -> Channel | None:
    channel = check_choice(session=session, account=account)
    if channel is None:
        return None
    channel.status, channel.connected_at = Channel.Status.ACTIVE, now
    channel.name, channel.handle = account.name, account.handle
    try:
        with transaction.atomic():
            channel.save(update_fields=["status", "connected_at", "name", "handle"])
    except IntegrityError as error:
        raise Refused("account_already_connected_elsewhere") from error
    return channel


def _connect(session: ConnectSession, account: Account, now: datetime, by: Actor) -> Channel:
    try:
        return save_channel(
            workspace=session.workspace,
            platform=session.platform,
            external_id=account.external_id,
            name=account.name,
            handle=account.handle,
            now=now,
            by=by,
        )
    except LimitReached as error:
        raise Refused("channel_limit_reached") from error
    except AccountConnectedElsewhere as error:
        raise Refused("account_already_connected_elsewhere") from error

"""Saves the chosen account as a channel. Rules are checked before the provider is called, and again under the lock."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from agency.actors import Actor
from channelconnect.models import ChannelCredential, ConnectSession, Unsubscription
from channelconnect.models.channels import UnsubscriptionReason
from channelconnect.models.sessions import SessionStatus
from channelconnect.providers.grants import Account, Grant
from channelconnect.services.allowance_keys import carry_uses_over
from channelconnect.services.business_app import begin_sync
from channelconnect.services.sessions.ending import end_session
from channelconnect.services.subscriptions import keep_subscription, release_access
from channelconnect.services.templates import sync_when_new
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import (
    AccountConnectedElsewhere,
    LimitReached,
    check_channel_limit,
    connect_channel,
    lock_workspace,
    reconnect_channel,
)


class Refused(Exception):
    """The chosen account cannot be connected; `code` is the session's error code."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


class Choice(NamedTuple):
    """The account that a customer chose, with the provider's grant and the time at which it listed the account."""

    account: Account
    grant: Grant
    listed_at: datetime


def check_choice(*, session: ConnectSession, account: Account) -> Channel | None:
    """Check target, other holders and room before the provider is called. Raises `Refused`.

    Returns the sub-account's channel that is connected again: the target, or the one that holds the account already.
    """
    target = session.target
    if target is not None and target.external_id != account.external_id:
        raise Refused("reconnection_target_mismatch")
    holder = _holder(session, account)
    if holder is not None and (holder.workspace_id != session.workspace_id or target not in (None, holder)):
        raise Refused("account_already_connected_elsewhere")
    is_connected = target is not None and target.status != Channel.Status.DISCONNECTED
    if holder is None and not is_connected:
        _check_room(session)
    return target or holder


def _holder(session: ConnectSession, account: Account) -> Channel | None:
    held = Channel.objects.filter(platform=session.platform, external_id=account.external_id)
    return held.exclude(status=Channel.Status.DISCONNECTED).first()


def _check_room(session: ConnectSession) -> None:
    session.workspace.refresh_from_db()
    with _as_refusal():
        check_channel_limit(workspace=session.workspace, platform=session.platform)


@contextmanager
def _as_refusal() -> Iterator[None]:
    try:
        yield
    except LimitReached as error:
        raise Refused("channel_limit_reached") from error
    except AccountConnectedElsewhere as error:
        raise Refused("account_already_connected_elsewhere") from error


@transaction.atomic
def save_choice(*, session: ConnectSession, choice: Choice, expected: Unsubscription, now: datetime, by: Actor) -> None:
    """Save the channel and end the session as connected, in one transaction. Raises `Refused` after a lost race.

    A session that ended meanwhile, or is past its time, leaves no channel. Raises `AccountBusy` if the `expected`
    subscription was already ended.
    """
    workspace = lock_workspace(session.workspace)
    locked = ConnectSession.objects.select_for_update(no_key=True).open().in_time().filter(pk=session.pk).first()
    if locked is None:
        return
    keep_subscription(expected)
    is_renewal = _holds_on_business_app(session, choice.account)
    channel = _save(session, choice, now, by)
    _keep_access(channel, choice.account, choice.grant, now)
    if not (is_renewal and channel.is_on_business_app):
        begin_sync(channel=channel, now=now)
    session.workspace = workspace
    end_session(session=session, status=SessionStatus.CONNECTED, channel=channel, now=now, by=by)


def _holds_on_business_app(session: ConnectSession, account: Account) -> bool:
    """Say whether the number works already and stays in the app, so that its contacts were requested before."""
    held = Channel.objects.filter(platform=session.platform, external_id=account.external_id, is_on_business_app=True)
    return held.filter(status=Channel.Status.ACTIVE).exists()


def _keep_access(channel: Channel, account: Account, grant: Grant, now: datetime) -> None:
    with carry_uses_over(channel):
        if ChannelCredential.objects.filter(channel=channel).exclude(container_id=account.container_id).exists():
            release_access(channel=channel, reason=UnsubscriptionReason.MOVED, now=now)
        ChannelCredential.objects.update_or_create(
            channel=channel,
            defaults={
                "token": account.token or grant.token,
                "container_id": account.container_id,
                "throughput": account.throughput,
                "portfolio_id": account.portfolio_id or "",
                "expires_at": grant.expires_at,
                "access_check_due_at": None,
                "access_checked_at": None,
            },
        )
    if channel.platform == "whatsapp":
        sync_when_new(account.container_id, now=now)


def _save(session: ConnectSession, choice: Choice, now: datetime, by: Actor) -> Channel:
    account = choice.account
    channel = check_choice(session=session, account=account)
    with _as_refusal():
        if channel is not None:
            return reconnect_channel(
                channel=channel,
                name=account.name,
                handle=account.handle,
                messaging_limit=account.messaging_limit,
                quality=account.quality,
                told_at=choice.listed_at,
                is_on_business_app=account.is_on_business_app,
                now=now,
                by=by,
            )
        return connect_channel(
            workspace=session.workspace,
            platform=session.platform,
            external_id=account.external_id,
            name=account.name,
            handle=account.handle,
            messaging_limit=account.messaging_limit,
            quality=account.quality,
            told_at=choice.listed_at,
            is_on_business_app=account.is_on_business_app,
            now=now,
            by=by,
        )

"""The changes of a channel: connected, connected again, lost at its provider, disconnected."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol

from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.limits import CHANNEL_TYPES
from config.errors import Conflict, NotFound
from config.hooks import Registry
from workspaces.subaccounts import events
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services.notifications import notify_of_lost_channel
from workspaces.subaccounts.services.recording import lock_workspace, record_workspace_activity, record_workspace_event
from workspaces.subaccounts.services.subscription import check_limit


class Unchanged(Enum):
    """Marks a value that must not change. None cannot do that, because it means that there is no limit."""

    VALUE = "unchanged"


UNCHANGED = Unchanged.VALUE
LONGEST_REASON = 60
# A Google Business Profile shows reviews and questions. It carries no messages.
MESSAGING = frozenset(CHANNEL_TYPES) - {"gbp"}
CONNECTED = ("status", "connected_at", "name", "handle", "is_on_business_app", "lost_reason")
REPORTED = ("messaging_limit", "quality", "limit_told_at", "quality_told_at")


class FirstChannelCallback(Protocol):
    def __call__(self, *, workspace: Workspace, now: datetime, by: Actor) -> None: ...


@dataclass(frozen=True, slots=True)
class FirstChannelHandler:
    """A higher app's reaction to a workspace's first messaging channel. It runs in the same transaction."""

    name: str
    handle: FirstChannelCallback


class DisconnectionCallback(Protocol):
    def __call__(self, *, channel: Channel, now: datetime) -> None: ...


@dataclass(frozen=True, slots=True)
class DisconnectionHandler:
    """A higher app's clean-up after a channel is disconnected. It runs in the same transaction."""

    name: str
    release: DisconnectionCallback


first_channel_handlers = Registry[FirstChannelHandler](
    "handlers of a first channel",
    called=(
        "`connect_channel` calls each in the order of the apps, after it has saved and recorded a workspace's "
        "first messaging channel"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)
disconnection_handlers = Registry[DisconnectionHandler](
    "handlers of a disconnection",
    called=(
        "`disconnect_channel` calls each in the order of the apps, under the locks of workspace and channel, "
        "before it records the disconnection"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


class ChannelNotFound(NotFound):
    message = "Channel not found."


class AccountConnectedElsewhere(Conflict):
    message = "This account is connected to another workspace."


@transaction.atomic
def connect_channel(
    *,
    workspace: Workspace,
    platform: str,
    external_id: str,
    name: str,
    handle: str,
    now: datetime,
    by: Actor,
    messaging_limit: int | None = None,
    quality: str | None = None,
    told_at: datetime | None = None,
    is_on_business_app: bool = False,
) -> Channel:
    """Save a new channel. Raises `LimitReached`, and `AccountConnectedElsewhere` if the account is in use.

    `told_at` is when the provider was asked for limit and quality, if that was before `now`.
    """
    workspace = lock_workspace(workspace)
    check_channel_limit(workspace=workspace, platform=platform)
    is_first = platform in MESSAGING and not workspace.channels.filter(platform__in=MESSAGING).exists()
    with _account_taken_once():
        channel = Channel.objects.create(
            workspace=workspace,
            platform=platform,
            external_id=external_id,
            name=name,
            handle=handle,
            connected_at=now,
            messaging_limit=messaging_limit,
            quality=_quality(quality),
            limit_told_at=_second(told_at, now),
            quality_told_at=_second(told_at, now),
            is_on_business_app=is_on_business_app,
        )
    _record_activity(channel, "channel.connected", by)
    _record_event(channel, events.CHANNEL_CONNECTED, now)
    if is_first:
        for handler in first_channel_handlers:
            handler.handle(workspace=workspace, now=now, by=by)
    return channel


@transaction.atomic
def reconnect_channel(
    *,
    channel: Channel,
    name: str,
    handle: str,
    now: datetime,
    by: Actor,
    messaging_limit: int | None = None,
    quality: str | None = None,
    told_at: datetime | None = None,
    is_on_business_app: bool = False,
) -> Channel:
    """Make a channel active again, with the name, handle, limit and quality that its account has now.

    `told_at` is when the provider was asked for them, if that was before `now`. A limit or quality that the provider
    has reported since then stays.
    Raises `LimitReached` if the channel was disconnected and there is no room, and `AccountConnectedElsewhere` if its
    account is in use.
    """
    workspace = lock_workspace(channel.workspace)
    channel = workspace.channels.select_for_update(no_key=True).get(pk=channel.pk)
    if channel.status == Channel.Status.DISCONNECTED:
        check_channel_limit(workspace=workspace, platform=channel.platform)
    _apply_account(channel, told_at, now, messaging_limit, _quality(quality))
    channel.status, channel.connected_at = Channel.Status.ACTIVE, now
    channel.name, channel.handle = name, handle
    channel.is_on_business_app, channel.lost_reason = is_on_business_app, ""
    with _account_taken_once():
        channel.save(update_fields=[*CONNECTED, *REPORTED])
    _record_activity(channel, "channel.reconnected", by)
    _record_event(channel, events.CHANNEL_CONNECTED, now)
    return channel


@transaction.atomic
def disconnect_channel(*, channel: Channel, now: datetime, by: Actor) -> Channel:
    """Disconnect a channel, which frees its account and its room. A disconnected channel stays as it is.

    The row stays, so that connecting the account again brings the channel back with its id.
    """
    workspace = lock_workspace(channel.workspace)
    channel = workspace.channels.select_for_update(no_key=True).get(pk=channel.pk)
    if channel.status == Channel.Status.DISCONNECTED:
        return channel
    channel.status = Channel.Status.DISCONNECTED
    channel.save(update_fields=["status"])
    for handler in disconnection_handlers:
        handler.release(channel=channel, now=now)
    _record_activity(channel, "channel.disconnected", by)
    _record_event(channel, events.CHANNEL_DISCONNECTED, now)
    return channel


@transaction.atomic
def mark_channel_lost(*, channel: Channel, reason: str, now: datetime, by: Actor) -> bool:
    """Mark an active channel `error`, because its provider took the account away. Says whether anything changed.

    A channel that was connected anew since the caller read it stays active: the loss concerns the former connection.
    """
    active = Channel.objects.filter(pk=channel.pk, status=Channel.Status.ACTIVE, connected_at=channel.connected_at)
    if not active.update(status=Channel.Status.ERROR, lost_reason=reason[:LONGEST_REASON]):
        return False
    channel.status, channel.lost_reason = Channel.Status.ERROR, reason[:LONGEST_REASON]
    _record_activity(channel, "channel.lost", by, reason=reason)
    _record_event(channel, events.CHANNEL_ERROR, now)
    notify_of_lost_channel(channel, now=now)
    return True


@transaction.atomic
def change_channel_limit(
    *,
    channel: Channel,
    now: datetime,
    told_at: datetime | None = None,
    messaging_limit: int | Unchanged | None = UNCHANGED,
    quality: str = "",
) -> Channel:
    """Store the limit and quality that the provider reports for a number. Only a changed limit is an event.

    An empty `quality` changes nothing. A report that is older than the stored value, by the provider's time `told_at`,
    came late and is ignored.
    """
    locked = Channel.objects.select_for_update(no_key=True, of=("self",))
    channel = locked.select_related("workspace").get(pk=channel.pk)
    had = channel.messaging_limit
    _apply_report(channel, _second(told_at, now), messaging_limit, _quality(quality) if quality else "")
    channel.save(update_fields=REPORTED)
    if channel.messaging_limit != had:
        _record_event(channel, events.CHANNEL_LIMIT_CHANGED, now)
    return channel


def _second(told_at: datetime | None, now: datetime) -> datetime:
    """Give the time of a report in whole seconds, as providers give it. A time in the future counts as now."""
    return min(told_at or now, now).replace(microsecond=0)


def _apply_account(
    channel: Channel, told_at: datetime | None, now: datetime, messaging_limit: int | None, quality: str
) -> None:
    """Set the limit and the quality of a list of accounts, unless they were reported in that second or since."""
    at = _second(told_at, now)
    is_new = told_at is None
    if is_new or channel.limit_told_at is None or at > channel.limit_told_at:
        channel.messaging_limit, channel.limit_told_at = messaging_limit, at
    if is_new or channel.quality_told_at is None or at > channel.quality_told_at:
        channel.quality, channel.quality_told_at = quality, at


def _apply_report(channel: Channel, at: datetime, messaging_limit: int | Unchanged | None, quality: str) -> None:
    """Set the limit and the quality where the report is not older than what the channel knows.

    An empty `quality` changes nothing. Of two reports of the same second, the later arrival counts. A channel without
    the time of a report knows what its account was like when it was connected.
    """
    connected_at = channel.connected_at.replace(microsecond=0)
    if not isinstance(messaging_limit, Unchanged) and at >= (channel.limit_told_at or connected_at):
        channel.messaging_limit, channel.limit_told_at = messaging_limit, at
    if quality and at >= (channel.quality_told_at or connected_at):
        channel.quality, channel.quality_told_at = quality, at


def _quality(told: str | None) -> str:
    """Give the quality for a provider's term. A term that we do not know counts as unknown quality."""
    return told if told in Channel.Quality.values else Channel.Quality.UNKNOWN


def check_channel_limit(*, workspace: Workspace, platform: str) -> None:
    """Raise `LimitReached` if one more channel of this type would pass the limit."""
    connected = workspace.channels.filter(platform=platform).exclude(status=Channel.Status.DISCONNECTED)
    check_limit(workspace=workspace, name=f"channels.{platform}", used=connected.count())


def _record_activity(channel: Channel, action: str, by: Actor, **more: str) -> None:
    details = {"platform": channel.platform, "name": channel.name, **more}
    record_workspace_activity(workspace=channel.workspace, action=action, by=by, details=details)


def _record_event(channel: Channel, event: str, now: datetime) -> None:
    """Record an event about a channel for the workspace's own webhooks."""
    record_workspace_event(workspace=channel.workspace, name=event, now=now, channel=channel)


@contextmanager
def _account_taken_once() -> Iterator[None]:
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise AccountConnectedElsewhere from error

"""Every change of a channel: connected, connected again, lost at its provider."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.limits import CHANNEL_TYPES
from config.errors import Conflict, NotFound
from config.hooks import Registry
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services.limits import require_room
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.recording import record_workspace_activity

# A Google Business Profile shows reviews and questions; nobody writes messages through it.
MESSAGING = frozenset(CHANNEL_TYPES) - {"gbp"}


class Handle(Protocol):
    def __call__(self, *, workspace: Workspace, now: datetime, by: Actor) -> None: ...


@dataclass(frozen=True, slots=True)
class FirstChannelHandler:
    """What a higher app does, in the same transaction, when a workspace's first messaging channel is connected."""

    name: str
    handle: Handle


first_channel_handlers = Registry[FirstChannelHandler]("handlers of a first channel")


class ChannelNotFound(NotFound):
    message = "Channel not found."


class AccountConnectedElsewhere(Conflict):
    message = "This account is connected to another workspace."


@transaction.atomic
def connect_channel(
    *, workspace: Workspace, platform: str, external_id: str, name: str, handle: str, now: datetime, by: Actor
) -> Channel:
    """Save a new channel. Raises `LimitReached` without room, `AccountConnectedElsewhere` for a taken account."""
    workspace = lock_workspace(workspace)
    require_channel_room(workspace=workspace, platform=platform)
    is_first = platform in MESSAGING and not workspace.channels.filter(platform__in=MESSAGING).exists()
    with _account_taken_once():
        channel = Channel.objects.create(
            workspace=workspace,
            platform=platform,
            external_id=external_id,
            name=name,
            handle=handle,
            connected_at=now,
        )
    details = {"platform": platform, "name": name}
    record_workspace_activity(workspace=workspace, action="channel.connected", by=by, details=details)
    if is_first:
        for handler in first_channel_handlers:
            handler.handle(workspace=workspace, now=now, by=by)
    return channel


@transaction.atomic
def reconnect_channel(*, channel: Channel, name: str, handle: str, now: datetime) -> Channel:
    """Make a channel active again, under the name and handle that its account has now.

    Raises `LimitReached` where a disconnected one has no room, `AccountConnectedElsewhere` where its account is taken.
    """
    workspace = lock_workspace(channel.workspace)
    channel = workspace.channels.select_for_update(no_key=True).get(pk=channel.pk)
    if channel.status == Channel.Status.DISCONNECTED:
        require_channel_room(workspace=workspace, platform=channel.platform)
    channel.status, channel.connected_at = Channel.Status.ACTIVE, now
    channel.name, channel.handle = name, handle
    with _account_taken_once():
        channel.save(update_fields=["status", "connected_at", "name", "handle"])
    return channel


@transaction.atomic
def mark_channel_lost(*, channel: Channel, reason: str, by: Actor) -> bool:
    """Mark an active channel `error`, as its provider has taken the account away; says whether anything changed."""
    active = Channel.objects.filter(pk=channel.pk, status=Channel.Status.ACTIVE)
    if not active.update(status=Channel.Status.ERROR):
        return False
    channel.status = Channel.Status.ERROR
    details = {"platform": channel.platform, "name": channel.name, "reason": reason}
    record_workspace_activity(workspace=channel.workspace, action="channel.lost", by=by, details=details)
    return True


def require_channel_room(*, workspace: Workspace, platform: str) -> None:
    """Raise `LimitReached` when one more channel of this type would pass the limit."""
    connected = workspace.channels.filter(platform=platform).exclude(status=Channel.Status.DISCONNECTED)
    require_room(workspace=workspace, name=f"channels.{platform}", used=connected.count())


@contextmanager
def _account_taken_once() -> Iterator[None]:
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise AccountConnectedElsewhere from error

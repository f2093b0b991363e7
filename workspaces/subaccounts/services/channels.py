"""Saving a connected channel, with the plan's room checked under the sub-account's lock."""

from datetime import datetime
from typing import Protocol

from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.limits import CHANNEL_TYPES
from config.errors import Conflict, NotFound
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services.limits import require_room
from workspaces.subaccounts.services.locking import lock
from workspaces.subaccounts.services.telling import note

# A Google Business Profile shows reviews and questions; nobody writes messages through it.
MESSAGING = frozenset(CHANNEL_TYPES) - {"gbp"}


class OnFirstChannel(Protocol):
    """What happens, in the same transaction, when a workspace's first messaging channel is saved."""

    def __call__(self, *, workspace: Workspace, now: datetime, by: Actor) -> None: ...


_on_first_channel: list[OnFirstChannel] = []


def on_first_channel(reaction: OnFirstChannel) -> None:
    """Register, once, what a higher app does with a workspace's first messaging channel."""
    if reaction not in _on_first_channel:
        _on_first_channel.append(reaction)


class ChannelNotFound(NotFound):
    message = "Channel not found."


class AccountConnectedElsewhere(Conflict):
    message = "This account is connected to another workspace."


@transaction.atomic
def save_channel(
    *, workspace: Workspace, platform: str, external_id: str, name: str, handle: str, now: datetime, by: Actor
) -> Channel:
    """Save a new channel. Raises `LimitReached` without room, `AccountConnectedElsewhere` for a taken account."""
    workspace = lock(workspace)
    used = workspace.channels.filter(platform=platform).exclude(status=Channel.Status.DISCONNECTED).count()
    require_room(workspace=workspace, name=f"channels.{platform}", used=used)
    is_first = platform in MESSAGING and not workspace.channels.filter(platform__in=MESSAGING).exists()
    try:
        with transaction.atomic():
            channel = Channel.objects.create(
                workspace=workspace,
                platform=platform,
                external_id=external_id,
                name=name,
                handle=handle,
                connected_at=now,
            )
    except IntegrityError as error:
        raise AccountConnectedElsewhere from error
    note(workspace=workspace, action="channel.connected", by=by, details={"platform": platform, "name": name})
    if is_first:
        for reaction in _on_first_channel:
            reaction(workspace=workspace, now=now, by=by)
    return channel

"""Saving a connected channel, with the plan's room checked under the sub-account's lock."""

from datetime import datetime

from django.db import IntegrityError, transaction

from agency.actors import Actor
from config.errors import Conflict
from workspaces.models import Channel, Workspace
from workspaces.services.limits import require_room
from workspaces.services.locking import lock
from workspaces.services.telling import note


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
    return channel

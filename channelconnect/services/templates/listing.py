"""A workspace's templates, each with a channel that can send it."""

from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from channelconnect.models import MessageTemplate
from workspaces.subaccounts.models import Channel, Workspace


def shown_templates(workspace: Workspace, *, channel: UUID | None = None) -> "QuerySet[MessageTemplate]":
    """Return the workspace's templates, each with the given channel or the oldest that can send it.

    Numbers of a business account share their templates.
    """
    channels = Channel.objects.filter(
        workspace=workspace, platform="whatsapp", credential__container_id=OuterRef("container_id")
    ).exclude(status=Channel.Status.DISCONNECTED)
    if channel is not None:
        channels = channels.filter(uuid=channel)
    own = Subquery(channels.order_by("pk").values("uuid")[:1])
    return MessageTemplate.objects.annotate(channel_uuid=own).of(workspace).filter(channel_uuid__isnull=False)

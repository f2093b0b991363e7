"""The workspace's own channels."""

from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from config.api.responses import json_answer
from config.api.schema import LIMIT_QUERY, PAGE_QUERY, Documented, one, pages
from workspaces.subaccounts.api.agency.subscriptions import ChannelNotFound
from workspaces.subaccounts.api.representations import channel_card
from workspaces.subaccounts.api.shapes import ChannelShape
from workspaces.subaccounts.api.workspace.surface import WorkspaceSurfaceViewSet
from workspaces.subaccounts.models import Channel


class ChannelViewSet(WorkspaceSurfaceViewSet):
    """Numbers, Pages and accounts through which the workspace sends and receives."""

    paginated = True

    @Documented(
        operation_id="listChannels",
        summary="List the channels",
        answer=pages(ChannelShape),
        query=(*PAGE_QUERY, LIMIT_QUERY),
    )
    def list(self, request: Request) -> HttpResponse:
        channels = Channel.objects.filter(workspace=self.workspace).order_by("-connected_at", "-id")
        rows = channels[self.page.offset : self.page.offset + self.page.size]
        return self.paged([channel_card(channel) for channel in rows], channels.count())

    @Documented(operation_id="readChannel", summary="Read a channel", answer=one(ChannelShape))
    def retrieve(self, request: Request, channel: UUID | None) -> HttpResponse:
        found = Channel.objects.filter(workspace=self.workspace, uuid=channel).first() if channel else None
        if found is None:
            raise ChannelNotFound
        return json_answer({"data": channel_card(found)})

"""The workspace's own channels."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from config.api.operations import one, operation, pages
from workspaces.subaccounts.api.serializers import ChannelSerializer
from workspaces.subaccounts.api.workspace.surface import WorkspaceViewSet
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import ChannelNotFound


class ChannelViewSet(WorkspaceViewSet):
    """Numbers, Pages and accounts through which the workspace sends and receives."""

    path = "channels"
    lookup_url_kwarg = "channel"
    not_found = ChannelNotFound

    def get_queryset(self) -> "QuerySet[Channel]":
        return Channel.objects.filter(workspace=self.workspace)

    @operation(operation_id="listChannels", summary="List the channels", answer=pages(ChannelSerializer))
    def list(self, request: Request) -> HttpResponse:
        return self.page_of(self.get_queryset().order_by("-connected_at", "-id"), ChannelSerializer)

    @operation(operation_id="readChannel", summary="Read a channel", answer=one(ChannelSerializer))
    def retrieve(self, request: Request, channel: UUID | None) -> HttpResponse:
        return self.answer(ChannelSerializer(self.get_object()))

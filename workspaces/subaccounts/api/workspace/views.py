"""The workspace itself, and its channels."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from config.api.operations import object_response, operation, page_response
from workspaces.subaccounts.api.workspace.serializers import (
    WorkspaceChangesSerializer,
    WorkspaceChannelSerializer,
    WorkspaceSerializer,
)
from workspaces.subaccounts.api.workspace.surface import WorkspaceViewSet
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.models.channels import with_used_allowance
from workspaces.subaccounts.services import ChannelNotFound, change_workspace


class CurrentWorkspaceViewSet(WorkspaceViewSet):
    """The workspace that the key belongs to."""

    @operation(operation_id="readWorkspace", summary="Read the workspace", answer=object_response(WorkspaceSerializer))
    def retrieve(self, request: Request) -> HttpResponse:
        return self.answer(WorkspaceSerializer(Workspace.objects.get(pk=self.workspace.pk)))

    @operation(
        operation_id="changeWorkspace",
        summary="Change the workspace; what is left out stays",
        request=WorkspaceChangesSerializer,
        answer=object_response(WorkspaceSerializer),
    )
    def partial_update(self, request: Request) -> HttpResponse:
        changes = self.validated(WorkspaceChangesSerializer, partial=True).changes
        changed = change_workspace(workspace=self.workspace, by=self.actor, **changes)
        return self.answer(WorkspaceSerializer(changed))


class ChannelViewSet(WorkspaceViewSet):
    """Numbers, Pages and accounts through which the workspace sends and receives."""

    lookup_url_kwarg = "channel"
    not_found = ChannelNotFound

    def get_queryset(self) -> "QuerySet[Channel]":
        return with_used_allowance(Channel.objects.filter(workspace=self.workspace))

    @operation(
        operation_id="listChannels", summary="List the channels", answer=page_response(WorkspaceChannelSerializer)
    )
    def list(self, request: Request) -> HttpResponse:
        return self.page_of(self.get_queryset().order_by("-connected_at", "-id"), WorkspaceChannelSerializer)

    @operation(operation_id="readChannel", summary="Read a channel", answer=object_response(WorkspaceChannelSerializer))
    def retrieve(self, request: Request, channel: UUID | None) -> HttpResponse:
        return self.answer(WorkspaceChannelSerializer(self.get_object()))

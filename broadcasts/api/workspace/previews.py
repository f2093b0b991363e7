"""What would happen if a broadcast were sent; nothing is made."""

from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from broadcasts.api.serializers import NewBroadcastSerializer, PreviewSerializer
from broadcasts.api.workspace.views import NAMED, BroadcastPartViewSet
from broadcasts.services.editing.building import build_broadcast
from broadcasts.services.forecast import preview
from config.api.operations import one, operation
from workspaces.subaccounts.api.workspace.surface import WorkspaceViewSet
from workspaces.subaccounts.models import Workspace


class PreviewViewSet(WorkspaceViewSet):
    """Looks ahead with a body as for creation."""

    path = "broadcasts/preview"

    @operation(
        operation_id="previewNewBroadcast",
        summary="See whom a broadcast would go to, when, and at what cost; nothing is made",
        request=NewBroadcastSerializer,
        answer=one(PreviewSerializer),
        errors={404: NAMED},
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = self.validated(NewBroadcastSerializer).validated_data
        del wanted["schedule"]
        # A key's caller knows little of its workspace.
        workspace = Workspace.objects.get(pk=self.workspace.pk)
        return self.answer(PreviewSerializer(preview(workspace, build_broadcast(workspace=workspace, **wanted))))


class BroadcastPreviewViewSet(BroadcastPartViewSet):
    """Looks ahead with a broadcast that is there."""

    path = "broadcasts/<id:broadcast>/preview"

    @operation(
        operation_id="previewBroadcast",
        summary="See whom a broadcast goes to, when, and at what cost",
        answer=one(PreviewSerializer),
        errors={422: "The channel or the template can no longer send it."},
    )
    def create(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        found = self.broadcast
        return self.answer(PreviewSerializer(preview(found.workspace, found)))

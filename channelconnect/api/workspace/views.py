"""Message templates of the workspace's channels."""

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from channelconnect.api.workspace.serializers import (
    TemplateSerializer,
    TemplateSyncRequestSerializer,
    TemplateSyncSerializer,
)
from channelconnect.filters import MessageTemplateFilterSet
from channelconnect.services.templates import request_sync, shown_templates
from config.api.operations import object_response, operation, page_response
from workspaces.subaccounts.api.surface import WorkspaceViewSet


class MessageTemplateViewSet(WorkspaceViewSet):
    """What may be sent at any time on WhatsApp: messages that the provider has approved before."""

    @operation(
        operation_id="listTemplates",
        summary="List the message templates, by name and language",
        answer=page_response(TemplateSerializer),
        filters=MessageTemplateFilterSet,
    )
    def list(self, request: Request) -> HttpResponse:
        rows = shown_templates(self.workspace, channel=_uuid(self.parameters.plain("channel")))
        return self.page_of(self.filtered(rows).order_by("name", "language", "pk"), TemplateSerializer)


class TemplateSyncViewSet(WorkspaceViewSet):
    """Lists templates at the provider again."""

    @operation(
        operation_id="syncTemplates",
        summary="Have a channel's templates listed at the provider again, within seconds",
        request=TemplateSyncRequestSerializer,
        status=202,
        answer=object_response(TemplateSyncSerializer),
        errors={404: "There is no such channel.", 409: "The channel is not connected."},
    )
    def create(self, request: Request) -> HttpResponse:
        channel = self.validated(TemplateSyncRequestSerializer).validated_data["channel"]
        sync = request_sync(channel=channel, now=timezone.now())
        answer = {"channel_uuid": channel.uuid, "synced_at": sync.synced_at}
        return self.answer(TemplateSyncSerializer(answer), status=202)


def _uuid(text: str | None) -> UUID | None:
    """Read an id; one that is none is left to the filter, which matches nothing."""
    try:
        return UUID(text or "")
    except ValueError:
        return None

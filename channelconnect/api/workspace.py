"""The workspace API about the message templates of the workspace's channels."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from channelconnect.models import MessageTemplate
from channelconnect.services.templates import request_sync, shown_templates
from config.api.fields import ChoiceField, DateTimeField, DictField, IntegerField, ListField, UUIDField
from config.api.filters import ChoiceFilter, FilterSet, TextFilter, UUIDFilter
from config.api.operations import object_response, operation, page_response
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField
from workspaces.subaccounts.api.surface import WorkspaceViewSet
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import ChannelNotFound

BODY = {"type": "BODY", "text": "Hello {{1}}, your order is ready."}


class TemplateChannelSerializer(Serializer):
    """A channel that can send the template."""

    id = UUIDField(source="channel_uuid")


class TemplateParameterSerializer(Serializer):
    """Something that is filled in when the template is sent: `index` or `name` says where in its component."""

    component = CharField(example="body", help_text="`header`, `body`, `button`, or of a carousel `carousel.0.body`.")
    index = IntegerField(allow_null=True, example=1)
    name = CharField(allow_null=True, example=None)
    type = CharField(example="text")
    example = CharField(allow_null=True, example="Ada")  # type: ignore[assignment]  # the field's own name


class TemplateSerializer(Serializer):
    """A message template that the provider has."""

    id = UUIDField(source="uuid")
    channel = TemplateChannelSerializer(source="*")
    name = CharField(example="order_ready")
    language = CharField(example="en_US")
    category = CharField(example="utility")
    status = ChoiceField(MessageTemplate.Status.values)
    components = ListField(child=DictField(), example=[BODY], help_text="As the provider has them.")
    parameters = ListField(child=TemplateParameterSerializer())
    updated_at = DateTimeField()


def whatsapp_channels(context: Mapping[str, Any]) -> "QuerySet[Channel]":
    return Channel.objects.filter(workspace=context["view"].workspace)


class RequestedChannelSerializer(Serializer):
    """A channel."""

    id = UUIDField(source="uuid")


class TemplateSyncRequestSerializer(Serializer):
    """Whose templates to list again."""

    channel = TenantRelatedField(
        queryset=whatsapp_channels, missing=ChannelNotFound, representation=RequestedChannelSerializer()
    )


class TemplateSyncSerializer(Serializer):
    """When a channel's templates were listed last."""

    channel = TemplateChannelSerializer(source="*")
    synced_at = DateTimeField(allow_null=True)


class MessageTemplateFilterSet(FilterSet):
    channel = UUIDFilter(field_name="channel_uuid", help_text="Only templates of this channel's business account.")
    status = ChoiceFilter(choices=MessageTemplate.Status.choices, help_text="Only templates of this status.")
    name = TextFilter(help_text="Only templates of this name.")
    language = TextFilter(help_text="Only templates in this language, such as en_US.")


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


urlpatterns = [
    path("templates", MessageTemplateViewSet.as_view({"get": "list"}), name="templates-list"),
    path("templates/sync", TemplateSyncViewSet.as_view({"post": "create"}), name="templates-sync-list"),
]

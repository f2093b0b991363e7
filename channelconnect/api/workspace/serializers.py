"""Message templates, as the workspace surface and its events show them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from channelconnect.models import MessageTemplate
from config.api.fields import ChoiceField, DateTimeField, DictField, IntegerField, ListField, UUIDField
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField
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

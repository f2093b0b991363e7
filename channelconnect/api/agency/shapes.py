"""Connections and settings as the OpenAPI document describes them."""

from typing import Any

from rest_framework import serializers

from channelconnect.codes import ERROR_CODES
from channelconnect.models.sessions import Platform, Status


class ConnectSettingsShape(serializers.Serializer[Any]):
    """Whether connecting is switched on for the agency, and where browsers may return."""

    enabled = serializers.BooleanField()
    return_urls = serializers.ListField(child=serializers.URLField())

    class Meta:
        ref_name = "ConnectSettings"


class Connection(serializers.Serializer[Any]):
    """A channel connection."""

    id = serializers.UUIDField()
    workspace_id = serializers.UUIDField()
    platform = serializers.ChoiceField(Platform.choices)
    status = serializers.ChoiceField(Status.choices)
    channel_id = serializers.UUIDField(allow_null=True)
    error_code = serializers.ChoiceField(list(ERROR_CODES), allow_null=True)
    state = serializers.CharField(allow_null=True)
    expires_at = serializers.DateTimeField()


class NewConnectionShape(Connection):
    """A connection with the secret address for the customer's browser."""

    connect_url = serializers.URLField()

    class Meta:
        ref_name = "ConnectionWithLink"

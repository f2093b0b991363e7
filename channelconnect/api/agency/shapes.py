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
        example = {"enabled": True, "return_urls": ["https://app.example.com/connected"]}


CONNECTION_EXAMPLE = {
    "id": "b1f6c7d2-93e4-4f0a-8a57-2c4e6d8f0b19",
    "workspace_id": "8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10",
    "platform": "whatsapp",
    "status": "pending",
    "channel_id": None,
    "error_code": None,
    "state": "onboarding-42",
    "expires_at": "2026-11-20T10:00:00Z",
}


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

    class Meta:
        example = CONNECTION_EXAMPLE


class NewConnectionShape(Connection):
    """A connection with the secret address for the customer's browser."""

    connect_url = serializers.URLField()

    class Meta:
        ref_name = "ConnectionWithLink"
        example = {**CONNECTION_EXAMPLE, "connect_url": "https://app.example.com/connect/a-secret-of-43-characters"}


class RepeatedConnectionShape(NewConnectionShape):
    """The connection of the first request; once it has ended there is no address any more."""

    connect_url = serializers.URLField(required=False)

    class Meta:
        ref_name = "RepeatedConnection"
        example = NewConnectionShape.Meta.example

"""Connections and connect settings of an agency."""

from channelconnect.codes import ERROR_CODES
from channelconnect.models.sessions import Platform, Status
from channelconnect.services.settings import LONGEST_URL, MOST_RETURN_URLS
from config.api.fields import BooleanField, ChoiceField, DateTimeField, ListField, URLField, UUIDField
from config.api.serializers import Serializer
from config.api.text_fields import OpaqueField

LONGEST_STATE = 500


class ConnectSettingsSerializer(Serializer):
    """Whether connecting is switched on for the agency, and where browsers may return."""

    enabled = BooleanField(read_only=True, example=True)
    return_urls = ListField(
        child=OpaqueField(max_length=LONGEST_URL, example="https://app.example.com/connected"),
        max_length=MOST_RETURN_URLS,
    )


class ConnectionSerializer(Serializer):
    """A channel connection."""

    id = UUIDField(read_only=True, example="b1f6c7d2-93e4-4f0a-8a57-2c4e6d8f0b19")
    workspace_id = UUIDField(read_only=True, example="8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10")
    platform = ChoiceField(Platform.choices)
    status = ChoiceField(Status.choices, read_only=True)
    return_url = OpaqueField(
        write_only=True,
        max_length=LONGEST_URL,
        help_text="One of the registered return URLs, to the letter.",
        example="https://app.example.com/connected",
    )
    channel_id = UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The connected channel; in a request, the channel to connect again.",
        example=None,
    )
    error_code = ChoiceField(list(ERROR_CODES.items()), read_only=True, allow_null=True, example=None)
    state = OpaqueField(
        max_length=LONGEST_STATE,
        required=False,
        allow_null=True,
        default=None,
        help_text="Comes back to the return URL unchanged.",
        example="customer-4711",
    )
    expires_at = DateTimeField(read_only=True, example="2026-11-20T10:00:00Z")


class PendingConnectionSerializer(ConnectionSerializer):
    """A connection with the secret address for the customer's browser."""

    connect_url = URLField(read_only=True, example="https://app.example.com/connect/a-secret-of-43-characters")


class RepeatedConnectionSerializer(ConnectionSerializer):
    """The connection of the first request; once it is no longer pending there is no address any more."""

    may_be_absent = ("connect_url",)

    connect_url = URLField(required=False, example="https://app.example.com/connect/a-secret-of-43-characters")

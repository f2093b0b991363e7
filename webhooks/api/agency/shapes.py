"""Endpoints and deliveries as the OpenAPI document describes them."""

from typing import Any

from rest_framework import serializers

from webhooks.models import Delivery, Endpoint


class EventLabel(serializers.Serializer[Any]):
    """An event and its label."""

    event = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the field's own name in the specification


class WebhookShape(serializers.Serializer[Any]):
    """A registered receiver."""

    uuid = serializers.UUIDField()
    url = serializers.URLField()
    events = serializers.ListField(child=serializers.CharField())
    description = serializers.CharField(allow_null=True)
    enabled = serializers.BooleanField()
    last_outcome = serializers.ChoiceField(Endpoint.Outcome.choices, allow_null=True)
    last_delivery_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()

    class Meta:
        ref_name = "Webhook"


class WebhookWithSecret(WebhookShape):
    """The endpoint with its signing secret, which is shown this once."""

    secret = serializers.CharField()

    class Meta:
        ref_name = "WebhookWithSecret"


class Deleted(serializers.Serializer[Any]):
    """Confirmation."""

    deleted = serializers.BooleanField()


class DeliveredTo(serializers.Serializer[Any]):
    """The endpoint of a delivery."""

    uuid = serializers.UUIDField()
    url = serializers.URLField()


class DeliveryShape(serializers.Serializer[Any]):
    """One envelope on its way to one endpoint; `attempts` is how many were made."""

    id = serializers.UUIDField()
    webhook = DeliveredTo()
    event = serializers.CharField()
    envelope_id = serializers.UUIDField()
    test = serializers.BooleanField()
    status = serializers.ChoiceField(Delivery.Status.choices)
    attempts = serializers.IntegerField()
    response_status = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    next_attempt_at = serializers.DateTimeField(allow_null=True)
    completed_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        ref_name = "Delivery"


class AttemptShape(serializers.Serializer[Any]):
    """What was sent and what came back; times in milliseconds."""

    number = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    duration_ms = serializers.IntegerField()
    dns_ms = serializers.FloatField(allow_null=True)
    connect_ms = serializers.FloatField(allow_null=True)
    tls_ms = serializers.FloatField(allow_null=True)
    first_byte_ms = serializers.FloatField(allow_null=True)
    url = serializers.CharField()
    remote_address = serializers.CharField(allow_null=True)
    request_headers = serializers.DictField(child=serializers.CharField())
    response_status = serializers.IntegerField(allow_null=True)
    response_headers = serializers.CharField(allow_null=True)
    response_body = serializers.CharField(allow_null=True, help_text="Its first 2 KiB.")
    error = serializers.CharField(allow_null=True)

    class Meta:
        ref_name = "Attempt"


class DeliveryDetail(DeliveryShape):
    """The delivery with each of its attempts and the envelope as it was sent."""

    attempts = AttemptShape(many=True)  # type: ignore[assignment]  # a number in lists, the attempts themselves here
    envelope = serializers.DictField()

    class Meta:
        ref_name = "DeliveryDetail"

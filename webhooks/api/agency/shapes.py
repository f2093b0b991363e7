"""Endpoints and deliveries as the OpenAPI document describes them."""

from typing import Any

import orjson
from rest_framework import serializers

from agency import events
from webhooks.models import Delivery, Endpoint
from webhooks.services.samples import sample_envelope

ENVELOPE_EXAMPLE = orjson.loads(sample_envelope(events.WORKSPACE_CREATED))
WEBHOOK_EXAMPLE = {
    "uuid": "c4a1f0de-7b52-4a3e-8f61-9d0e2b5c7a13",
    "url": "https://crm.example.com/hooks/agency",
    "events": [events.WORKSPACE_CREATED, events.WORKSPACE_SUSPENDED],
    "description": "CRM",
    "enabled": True,
    "last_outcome": "success",
    "last_delivery_at": "2026-11-20T09:30:01Z",
    "created_at": "2026-11-19T08:00:00Z",
}
DELIVERY_EXAMPLE = {
    "id": "e0b7d9c2-4f31-4c6a-b8a5-6d1f3e2a9c70",
    "webhook": {"uuid": WEBHOOK_EXAMPLE["uuid"], "url": WEBHOOK_EXAMPLE["url"]},
    "event": events.WORKSPACE_CREATED,
    "envelope_id": ENVELOPE_EXAMPLE["id"],
    "test": False,
    "status": "success",
    "attempts": 1,
    "response_status": 204,
    "error": None,
    "created_at": "2026-11-20T09:30:00Z",
    "next_attempt_at": None,
    "completed_at": "2026-11-20T09:30:01Z",
}
QUEUED_EXAMPLE = {
    **DELIVERY_EXAMPLE,
    "status": "pending",
    "attempts": 0,
    "response_status": None,
    "next_attempt_at": "2026-11-20T09:30:00Z",
    "completed_at": None,
}
ATTEMPT_EXAMPLE = {
    "number": 1,
    "started_at": "2026-11-20T09:30:00.412000Z",
    "duration_ms": 87,
    "dns_ms": 3.1,
    "connect_ms": 12.4,
    "tls_ms": 31.9,
    "first_byte_ms": 85.2,
    "remote_address": "93.184.215.14",
    "url": WEBHOOK_EXAMPLE["url"],
    "request_headers": {"X-Svc-Event": events.WORKSPACE_CREATED, "X-Svc-Delivery": ENVELOPE_EXAMPLE["id"]},
    "response_status": 204,
    "response_headers": "HTTP/1.1 204 No Content",
    "response_body": "",
    "error": None,
}


class EventLabel(serializers.Serializer[Any]):
    """An event and its label."""

    event = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the field's own name in the specification

    class Meta:
        example = {"event": events.WORKSPACE_CREATED, "label": events.LIFECYCLE[events.WORKSPACE_CREATED]}


class WebhookShape(serializers.Serializer[Any]):
    """A webhook endpoint."""

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
        example = WEBHOOK_EXAMPLE


class WebhookWithSecret(WebhookShape):
    """The endpoint with its signing secret, which is shown this once."""

    secret = serializers.CharField()

    class Meta:
        ref_name = "WebhookWithSecret"
        example = {**WEBHOOK_EXAMPLE, "secret": "whsec_example-example-example-example-example-exa"}


class Deleted(serializers.Serializer[Any]):
    """Confirmation."""

    deleted = serializers.BooleanField()

    class Meta:
        example = {"deleted": True}


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
        example = DELIVERY_EXAMPLE


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
        example = {**DELIVERY_EXAMPLE, "attempts": [ATTEMPT_EXAMPLE], "envelope": ENVELOPE_EXAMPLE}

"""The workspace API about webhooks: `id` for `uuid`, `topics` for `events`."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request

from agency.event_types import declared_events, event_labels, event_type
from agency.tenants import Audience, Tenant
from config.api.fields import ListField, URLField, UUIDField
from config.api.operations import operation, page_response
from config.api.serializers import Serializer
from config.api.text_fields import CharField
from webhooks.api.serializers import (
    MOST_EVENTS,
    DeliveryDetailSerializer,
    DeliverySerializer,
    EventField,
    JSONBytesField,
    ReplaySerializer,
    SurfaceSerializers,
    WebhookSerializer,
    WebhookTestSerializer,
)
from webhooks.api.views import DeliveryViews, EndpointViews, WorkspaceDeliveryFilterSet
from webhooks.services.deliveries import sample_envelope
from workspaces.subaccounts.api.surface import WorkspaceViewSet
from workspaces.subaccounts.services import tenant_of

# Any topic that is sure to be declared.
TOPIC = "product.updated"
ENDPOINT_ID = "c4a1f0de-7b52-4a3e-8f61-9d0e2b5c7a13"
URL = "https://shop.example.com/hooks"
SAMPLE = orjson.loads(sample_envelope(TOPIC))


def topic_field(**options: Any) -> EventField:
    return EventField(audience=Audience.WORKSPACE, example=TOPIC, **options)


class TopicSerializer(Serializer):
    """What an endpoint can subscribe to."""

    topic = CharField(source="name", example=TOPIC)
    label = CharField(example=event_type(TOPIC).label)  # type: ignore[assignment]  # the field's own name in the specification
    group = CharField(example=event_type(TOPIC).group)


class WorkspaceWebhookSerializer(WebhookSerializer):
    """A webhook endpoint."""

    uuid = None  # as DRF documents how a field is left out
    events = None  # likewise
    id = UUIDField(source="uuid", read_only=True, example=ENDPOINT_ID)
    topics = ListField(source="events", child=topic_field(), max_length=MOST_EVENTS, allow_empty=False)

    def get_fields(self) -> dict[str, Any]:
        """Begin with the id, as every resource does."""
        fields = super().get_fields()
        first = {name: fields[name] for name in ("id", "url", "topics")}
        return {**first, **{name: field for name, field in fields.items() if name not in first}}


class WorkspaceWebhookWithSecretSerializer(WorkspaceWebhookSerializer):
    """The endpoint with its signing secret, which is shown this once."""

    secret = CharField(read_only=True, example="whsec_ZXhhbXBsZSBleGFtcGxlIGV4YW1wbGUgZXhhbXBsZSE=")


class WorkspaceWebhookTestSerializer(WebhookTestSerializer):
    """The topic to sample; without one, the first that the endpoint is subscribed to."""

    event = topic_field(required=False, allow_null=True, default=None)


class WorkspaceReplaySerializer(ReplaySerializer):
    """Since when deliveries are sent again: those that failed or all that have ended, of all topics or of these."""

    own_name, other_name = "topics", "events"
    events = None  # as DRF documents how a field is left out
    topics = ListField(
        source="events",
        child=topic_field(),
        max_length=MOST_EVENTS,
        allow_empty=False,
        required=False,
        allow_null=True,
        default=None,
    )


class WorkspaceDeliveredToSerializer(Serializer):
    """The endpoint of a delivery."""

    id = UUIDField(source="uuid", example=ENDPOINT_ID)
    url = URLField(example=URL)


class WorkspaceDeliverySerializer(DeliverySerializer):
    """One envelope on its way to one endpoint; `attempts` is how many were made."""

    webhook = WorkspaceDeliveredToSerializer(source="endpoint")  # the surface's own shape
    event = CharField(source="event_name", example=TOPIC)


class WorkspaceDeliveryDetailSerializer(DeliveryDetailSerializer):
    """The delivery with each of its attempts and the envelope as it was sent."""

    webhook = WorkspaceDeliveredToSerializer(source="endpoint")  # the surface's own shape
    event = CharField(source="event_name", example=TOPIC)
    envelope = JSONBytesField(example=SAMPLE)


SHAPES = SurfaceSerializers(
    endpoint=WorkspaceWebhookSerializer,
    endpoint_with_secret=WorkspaceWebhookWithSecretSerializer,
    test=WorkspaceWebhookTestSerializer,
    replay=WorkspaceReplaySerializer,
    delivery=WorkspaceDeliverySerializer,
    delivery_detail=WorkspaceDeliveryDetailSerializer,
    filters=WorkspaceDeliveryFilterSet,
    id_name="id",
    has_pages=True,
)


class OfWorkspace(WorkspaceViewSet):
    """Whatever is looked up is the workspace's own, not its agency's."""

    @property
    def tenant(self) -> Tenant:
        return tenant_of(self.workspace)


class WebhookViewSet(OfWorkspace, EndpointViews):
    """The workspace's webhook endpoints."""

    shapes = SHAPES

    def event_catalogue(self) -> Mapping[str, str]:
        return event_labels(Audience.WORKSPACE)

    @operation(
        operation_id="listWebhookTopics",
        summary="List the topics, their labels and groups",
        answer=page_response(TopicSerializer),
    )
    def topics(self, request: Request) -> HttpResponse:
        topics, page = list(declared_events(Audience.WORKSPACE)), self.whole_page()
        self.page, shown = page, topics[page.offset : page.offset + page.size]
        return self.paged(TopicSerializer(shown, many=True), len(topics))


class DeliveryViewSet(OfWorkspace, DeliveryViews):
    """What was sent, or is to be sent, to the workspace's endpoints."""

    shapes = SHAPES


urlpatterns = [
    path("webhooks", WebhookViewSet.as_view({"get": "list", "post": "create"}), name="webhooks-list"),
    path("webhooks/topics", WebhookViewSet.as_view({"get": "topics"}), name="webhooks-topics"),
    path("webhooks/deliveries", DeliveryViewSet.as_view({"get": "list"}), name="webhooks-deliveries-list"),
    path(
        "webhooks/deliveries/<id:delivery>",
        DeliveryViewSet.as_view({"get": "retrieve"}),
        name="webhooks-deliveries-detail",
    ),
    path(
        "webhooks/deliveries/<id:delivery>/redeliver",
        DeliveryViewSet.as_view({"post": "redeliver"}),
        name="webhooks-deliveries-redeliver",
    ),
    path(
        "webhooks/<id:webhook>",
        WebhookViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="webhooks-detail",
    ),
    path("webhooks/<id:webhook>/deliveries", WebhookViewSet.as_view({"get": "deliveries"}), name="webhooks-deliveries"),
    path("webhooks/<id:webhook>/replay", WebhookViewSet.as_view({"post": "replay"}), name="webhooks-replay"),
    path(
        "webhooks/<id:webhook>/rotate-secret",
        WebhookViewSet.as_view({"post": "rotate_secret"}),
        name="webhooks-rotate-secret",
    ),
    path("webhooks/<id:webhook>/test", WebhookViewSet.as_view({"post": "test"}), name="webhooks-test"),
]

"""Webhooks on the workspace surface."""

from collections.abc import Mapping

from django.http import HttpResponse
from rest_framework.request import Request

from agency.event_types import declared_events, event_labels
from agency.tenants import Audience, Tenant
from config.api.operations import operation, page_response
from webhooks.api.declaring import Shapes
from webhooks.api.deliveries import DeliveryViews
from webhooks.api.endpoints import EndpointViews
from webhooks.api.workspace.serializers import (
    TopicSerializer,
    WorkspaceDeliveryDetailSerializer,
    WorkspaceDeliverySerializer,
    WorkspaceReplaySerializer,
    WorkspaceWebhookSerializer,
    WorkspaceWebhookTestSerializer,
    WorkspaceWebhookWithSecretSerializer,
)
from webhooks.filters import WorkspaceDeliveryFilterSet
from workspaces.subaccounts.api.surface import WorkspaceViewSet
from workspaces.subaccounts.services import tenant_of

SHAPES = Shapes(
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

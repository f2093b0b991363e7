"""Looking up endpoints and deliveries among the agency's own."""

from uuid import UUID

from agency.api.surface import AgencyViewSet
from webhooks.models import Delivery, Endpoint
from webhooks.services import DeliveryNotFound, EndpointNotFound


class WebhookBaseViewSet(AgencyViewSet):
    """A set of views whose paths name endpoints and deliveries of the agency."""

    def endpoint_of(self, uuid: UUID | None) -> Endpoint:
        endpoint = Endpoint.objects.of(self.agency).filter(uuid=uuid).first() if uuid else None
        if endpoint is None:
            raise EndpointNotFound
        return endpoint

    def delivery_of(self, uuid: UUID | None) -> Delivery:
        deliveries = Delivery.objects.of(self.agency).select_related("endpoint", "event", "queued")
        delivery = deliveries.filter(uuid=uuid).first() if uuid else None
        if delivery is None:
            raise DeliveryNotFound
        return delivery

"""Models of webhook endpoints, the queue of deliveries, and the log of deliveries and attempts."""

from webhooks.models.deliveries import Attempt, Delivery, DispatcherRun, EndpointShard, QueuedDelivery
from webhooks.models.endpoints import Endpoint, HourlyStats

__all__ = ["Attempt", "Delivery", "DispatcherRun", "Endpoint", "EndpointShard", "HourlyStats", "QueuedDelivery"]

"""Models of webhook endpoints, the queue of deliveries, and the log of deliveries and attempts."""

from webhooks.models.deliveries import Attempt, Delivery
from webhooks.models.endpoints import Endpoint
from webhooks.models.hourly_stats import HourlyStats
from webhooks.models.queue import DispatcherRun, EndpointShard, QueuedDelivery

__all__ = ["Attempt", "Delivery", "DispatcherRun", "Endpoint", "EndpointShard", "HourlyStats", "QueuedDelivery"]

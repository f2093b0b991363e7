"""Where events go, and the record of every attempt to bring them there."""

from webhooks.models.deliveries import Attempt, Delivery
from webhooks.models.endpoints import Endpoint

__all__ = ["Attempt", "Delivery", "Endpoint"]

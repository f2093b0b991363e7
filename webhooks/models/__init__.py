"""Where events go, the queue of what is still to be brought there, and the record of every attempt."""

from webhooks.models.deliveries import Attempt, Delivery
from webhooks.models.endpoints import Endpoint
from webhooks.models.queue import Errand, Shift
from webhooks.models.tallies import Tally

__all__ = ["Attempt", "Delivery", "Endpoint", "Errand", "Shift", "Tally"]

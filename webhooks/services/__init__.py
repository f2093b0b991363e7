"""Every change of webhook endpoints and deliveries: one verb, one function, one transaction."""

from webhooks.services.deliveries import DeliveryNotFound, redeliver, redeliver_failed, send_test
from webhooks.services.endpoints import (
    EndpointNotFound,
    has_subscribers,
    register_endpoint,
    remove_endpoint,
    rotate_secret,
    update_endpoint,
)
from webhooks.services.guarding import UrlRefused, check_endpoint_url
from webhooks.services.states import EndpointState, endpoint_states

__all__ = [
    "DeliveryNotFound",
    "EndpointNotFound",
    "EndpointState",
    "UrlRefused",
    "check_endpoint_url",
    "endpoint_states",
    "has_subscribers",
    "redeliver",
    "redeliver_failed",
    "register_endpoint",
    "remove_endpoint",
    "rotate_secret",
    "send_test",
    "update_endpoint",
]

"""Every change of webhook endpoints and deliveries: one verb, one function, one transaction."""

from webhooks.services.deliveries import DeliveryNotFound, EndpointGone, redeliver, send_test
from webhooks.services.endpoints import (
    EndpointNotFound,
    TooManyEndpoints,
    has_subscribers,
    register_endpoint,
    remove_endpoint,
    rotate_secret,
    subscriptions,
    update_endpoint,
)
from webhooks.services.guarding import UrlRefused, check_endpoint_url
from webhooks.services.log import LogFilters, LogPage, read_log
from webhooks.services.replays import Replay, Replayed, count_replay, progress_of, replay_deliveries
from webhooks.services.states import EndpointState, endpoint_states

__all__ = [
    "DeliveryNotFound",
    "EndpointGone",
    "EndpointNotFound",
    "EndpointState",
    "LogFilters",
    "LogPage",
    "Replay",
    "Replayed",
    "TooManyEndpoints",
    "UrlRefused",
    "check_endpoint_url",
    "count_replay",
    "endpoint_states",
    "has_subscribers",
    "progress_of",
    "read_log",
    "redeliver",
    "register_endpoint",
    "remove_endpoint",
    "replay_deliveries",
    "rotate_secret",
    "send_test",
    "subscriptions",
    "update_endpoint",
]

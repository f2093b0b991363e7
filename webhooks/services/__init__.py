"""The services of webhook endpoints and deliveries. Each change is one function and one transaction."""

from webhooks.services.conditions import Condition, State, conditions_of, needing_attention, with_conditions
from webhooks.services.deliveries import DeliveryNotFound, EndpointGone, redeliver, send_test
from webhooks.services.endpoints import (
    EndpointNotFound,
    TooManyEndpoints,
    dismiss_failures,
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
    "Condition",
    "DeliveryNotFound",
    "EndpointGone",
    "EndpointNotFound",
    "EndpointState",
    "LogFilters",
    "LogPage",
    "Replay",
    "Replayed",
    "State",
    "TooManyEndpoints",
    "UrlRefused",
    "check_endpoint_url",
    "conditions_of",
    "count_replay",
    "dismiss_failures",
    "endpoint_states",
    "has_subscribers",
    "needing_attention",
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
    "with_conditions",
]

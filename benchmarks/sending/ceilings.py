"""Two upper bounds for the sender: its client's bare loop, and its pipeline without sending."""

from collections.abc import Sequence

import orjson

from benchmarks import ceilings
from benchmarks.ceilings import send_all
from benchmarks.receivers.fast_provider import BODY, HEAD
from channelconnect.providers.messages import OutgoingMessage, Recipient, body_of
from channelconnect.providers.settings import provider_settings
from channelconnect.sending.calls import CALL_LIMITS
from channelconnect.sending.channels import Routes
from config.http.client import HTTPClient
from config.http.transfer import Request
from workspaces.subaccounts.models import Channel

IN_FLIGHT = 256


class NoSending(ceilings.NoSending):
    """Answers every message at once as if the provider had accepted it."""

    status, head = 200, HEAD

    @staticmethod
    def body(key: int) -> bytes:
        return BODY % key


def bare_loop(channels: Sequence[Channel], messages: int) -> None:
    """Send `messages` prepared requests, each like that of a message, with the client alone."""
    ready = [_request(channel) for channel in channels]
    sender = HTTPClient(limits=CALL_LIMITS)
    send_all(sender, lambda key: ready[key % len(ready)]._replace(key=key), requests=messages, in_flight=IN_FLIGHT)


def _request(channel: Channel) -> Request:
    parameters = [{"type": "text", "text": "Person 1"}, {"type": "text", "text": "Tuesday"}]
    template = {"name": "order_ready", "language": "en_US", "components": [{"type": "body", "parameters": parameters}]}
    message = OutgoingMessage(
        opaque="b100000", to=Recipient(external_id="491700000001"), type="template", template=template
    )
    routes = Routes(provider_settings())
    route = routes.find(str(channel.external_id), channel.credential.token or "", ("127.0.0.1",))
    return Request(0, route.way, route.headers, orjson.dumps(body_of("whatsapp", message)))

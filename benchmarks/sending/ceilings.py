"""What bounds the sender: the bare loop of its client, and its own pipeline when nothing is sent."""

import threading
import time
from collections.abc import Sequence
from typing import Any

import orjson

from benchmarks.receivers.fast_provider import BODY, HEAD
from channelconnect.providers import provider_settings
from channelconnect.providers.messages import OutgoingMessage, Recipient, body_of
from channelconnect.sending.calls import CALL_LIMITS
from channelconnect.sending.routes import Routes
from config.http.client import Sender
from config.http.exchange import Request, Result
from workspaces.subaccounts.models import Channel

IN_FLIGHT = 256


class NoSending:
    """Replaces the client, and says of every message at once that the provider took it."""

    def __init__(self, **_: Any) -> None:
        self._asked: list[Request] = []
        self._woken = threading.Event()

    def submit(self, request: Request) -> None:
        self._asked.append(request)

    def wake(self) -> None:
        self._woken.set()

    def poll(self, timeout_s: float) -> list[Result]:
        if not self._asked:
            self._woken.wait(timeout_s)
            self._woken.clear()
        asked, self._asked, now = self._asked, [], time.time()
        return [
            Result(one.key, 200, None, now, 0.0, None, None, 0.2, 0.3, "127.0.0.1", True, False, HEAD, BODY % one.key)
            for one in asked
        ]

    def close(self) -> None:
        self._asked.clear()


def bare_loop(channels: Sequence[Channel], messages: int) -> None:
    """Send as many requests that are ready, each like a message's, with the client alone."""
    sender = Sender(limits=CALL_LIMITS)
    requests = [_request(channel) for channel in channels]
    begun = done = 0
    while done < messages:
        while sender.in_flight < IN_FLIGHT and begun < messages:
            sender.submit(requests[begun % len(requests)]._replace(key=begun))
            begun += 1
        done += len(sender.poll(1))
    sender.close()


def _request(channel: Channel) -> Request:
    parameters = [{"type": "text", "text": "Person 1"}, {"type": "text", "text": "Tuesday"}]
    template = {"name": "order_ready", "language": "en_US", "components": [{"type": "body", "parameters": parameters}]}
    message = OutgoingMessage(
        opaque="b100000", to=Recipient(external_id="491700000001"), type="template", template=template
    )
    routes = Routes(provider_settings())
    route = routes.find(str(channel.external_id), channel.credential.token or "", ("127.0.0.1",))
    return Request(0, route.way, route.headers, orjson.dumps(body_of("whatsapp", message)))

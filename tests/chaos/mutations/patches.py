"""What is broken in the product's modules, by the name of the mutation. Loaded before Django: imports nothing of it."""

import json
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any


def require(module: ModuleType, name: str) -> None:
    """Raise `LookupError` when what is to be broken is no longer there."""
    if not hasattr(module, name):
        raise LookupError(f"{module.__name__} has no {name}")


def wrong_secret(signing: ModuleType) -> None:
    """Sign with a secret that is nobody's."""
    before = signing.Signer.__init__

    def init(self: Any, secret: str) -> None:
        before(self, "whsec_" + "A" * 43 + "=")

    signing.Signer.__init__ = init


def other_bytes(client: ModuleType) -> None:
    """Write the body anew after it was signed."""
    before = client.Sender.submit

    def submit(self: Any, request: Any) -> None:
        before(self, request._replace(body=json.dumps(json.loads(request.body)).encode()))

    client.Sender.submit = submit


def early_answer(events: ModuleType) -> None:
    """Record the event some seconds after the change was answered."""
    before = events.write_event

    def write_later(**options: Any) -> None:
        from django.db import connection, transaction

        try:
            with transaction.atomic():
                before(**options)
        finally:
            connection.close()

    def write_event(**options: Any) -> None:
        timer = threading.Timer(4.0, write_later, kwargs=options)
        timer.daemon = True
        timer.start()

    require(events, "write_event")
    vars(events)["write_event"] = write_event


def sixteen_at_once(queue: ModuleType) -> None:
    """Send twice as many at once to an endpoint as is promised."""
    require(queue, "PER_ENDPOINT")
    vars(queue)["PER_ENDPOINT"] = 16


def unbounded(queries: ModuleType) -> None:
    """Fan out whatever there is in one statement."""
    queries.fan_out.__kwdefaults__["batch"] = 10**9


PATCHES: dict[str, dict[str, Callable[[ModuleType], None]]] = {
    "secret": {"webhooks.signing": wrong_secret},
    "bytes": {"config.http.client": other_bytes},
    "early": {"agency.services.events": early_answer},
    "sixteen": {"webhooks.dispatcher.endpoint_queue": sixteen_at_once},
    "unbounded": {"webhooks.dispatcher.queries": unbounded},
}

"""The product as the web server loads it, whose limits a test changes: `/limits?database=…&thread=…`, in seconds.

It begins with limits that no busy machine reaches.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs

from config.asgi import application as product
from config.event_loop_responses import Scope
from config.serving.responses import Send, send_whole
from tests.waiting import PATIENCE_SECONDS

LIMITS: Final = "/limits"
PATIENT: Final = {"database": PATIENCE_SECONDS, "thread": PATIENCE_SECONDS}


def limit(limits: Mapping[str, float]) -> None:
    product.database_seconds, product.threads.wait_seconds = limits["database"], limits["thread"]


limit(PATIENT)


async def application(scope: Scope, receive: Any, send: Send) -> None:
    """Change the limits, without a number to those of the beginning; else answer as the product does."""
    if scope["type"] != "http" or scope["path"] != LIMITS:
        await product(scope, receive, send)
        return
    asked = {name: float(values[0]) for name, values in parse_qs(scope["query_string"].decode()).items()}
    limit(PATIENT | asked)
    await send_whole(send, 200, [(b"content-length", b"0"), (b"connection", b"close")], b"")

"""The product as the web server loads it, whose limits a test changes: `/limits?database=…&thread=…`, in seconds."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs

from config.asgi import application as product
from config.serving.responses import Send, send_whole

LIMITS: Final = "/limits"
OWN: Final = {"database": product.database_seconds, "thread": product.threads.wait_seconds}


async def application(scope: Mapping[str, Any], receive: Any, send: Send) -> None:
    """Change the limits, without a number to the product's own; else answer as the product does."""
    if scope["type"] != "http" or scope["path"] != LIMITS:
        await product(scope, receive, send)
        return
    asked = {name: float(values[0]) for name, values in parse_qs(scope["query_string"].decode()).items()}
    limits = OWN | asked
    product.database_seconds, product.threads.wait_seconds = limits["database"], limits["thread"]
    await send_whole(send, 200, [(b"content-length", b"0"), (b"connection", b"close")], b"")

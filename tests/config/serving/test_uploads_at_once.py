"""Uploads wait on the disk until a thread has read them: a process takes so many at a time, and refuses the next."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from config.asgi import application
from config.event_loop_responses import Scope
from tests.waiting import PATIENCE_SECONDS
from workspaces.media.api import UPLOAD_BODY

HEADERS = [(b"host", b"localhost"), (b"x-api-key", b"svc_x"), (b"content-length", b"5000")]
SCOPE: Scope = {"type": "http", "method": "POST", "path": "/api/v1/media", "query_string": b"", "headers": HEADERS}


async def upload(receive: Callable[[], Any]) -> list[dict[str, Any]]:
    """Give what the application answers to an upload whose body comes as `receive` says."""
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(dict(message))

    await application(SCOPE, receive, send)
    return sent


async def seventeen_uploads() -> tuple[int, dict[bytes, bytes], int]:
    """Begin as many as are taken, and one more; then let them go."""
    assert UPLOAD_BODY.most_at_once is not None
    going = asyncio.Event()

    async def never_whole() -> dict[str, Any]:
        await going.wait()
        return {"type": "http.disconnect"}

    begun = [asyncio.create_task(upload(never_whole)) for _ in range(UPLOAD_BODY.most_at_once)]
    while application.under_way[UPLOAD_BODY.name] < len(begun):
        await asyncio.sleep(0)
    start, *_ = await upload(never_whole)
    going.set()
    await asyncio.gather(*begun)
    return start["status"], dict(start["headers"]), application.under_way[UPLOAD_BODY.name]


def test_a_seventeenth_upload_at_once_is_refused_until_another_has_ended() -> None:
    assert UPLOAD_BODY.most_at_once == 16
    with ThreadPoolExecutor(1) as thread:  # a browser's test may have left a loop running in this one
        status, headers, left = thread.submit(lambda: asyncio.run(seventeen_uploads())).result(timeout=PATIENCE_SECONDS)
    assert status == 503
    assert int(headers[b"retry-after"]) >= 1
    assert left == 0

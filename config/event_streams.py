"""Server-sent events: what open pages are told as it happens.

A topic's newest entries are kept in a Redis stream, so that a page that was away for a moment misses none, and each
is published to the web processes that have the topic open (`config/serving/event_streams.py`). No query is involved:
an entry says what changed, never what it holds, and a page that reads it asks for that with their own permissions.
"""

import time
from collections.abc import Mapping
from typing import Any, Final, cast

import orjson
from django.http import StreamingHttpResponse

from config.redis import RedisAway, attempt

KEPT_ENTRIES: Final = 200
KEPT_SECONDS: Final = 3_600
DATA: Final = "data"
# An entry that says: more may have changed than can be told.
REFETCH: Final = "refetch"
PUBLISH: Final = """
for number, key in ipairs(KEYS) do
    local data = ARGV[number + 2]
    local id = redis.call('XADD', key, 'MAXLEN', ARGV[1], '*', 'data', data)
    redis.call('EXPIRE', key, ARGV[2])
    redis.call('PUBLISH', key, id .. ' ' .. data)
end
"""


def stream_key(topic: str) -> str:
    """Give the name in Redis of a topic's stream and of its channel."""
    return f"event-stream:{topic}"


def publish(topic: str, data: Mapping[str, Any]) -> None:
    """Tell pages that have the topic open. Called after the commit; without Redis none is told, and pages ask later."""
    publish_all({topic: data})


def publish_all(entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Tell the pages that have these topics open, an entry for each, in one call."""
    keys, bodies = [stream_key(topic) for topic in entries], [orjson.dumps(data) for data in entries.values()]
    try:
        attempt(lambda client: client.eval(PUBLISH, len(keys), *keys, KEPT_ENTRIES, KEPT_SECONDS, *bodies))
    except RedisAway:
        return


def newest_entry(topic: str) -> str:
    """Give the id of the newest entry, from which a page that is being made goes on; empty without Redis.

    Read it before what the page shows: what changes in between is then told once too often, never too seldom.
    """
    try:
        found = attempt(lambda client: cast("list[Any]", client.xrevrange(stream_key(topic), count=1)))
    except RedisAway:
        return ""
    return found[0][0].decode() if found else f"{time.time_ns() // 1_000_000 - 1_000}-0"


class EventStreamResponse(StreamingHttpResponse):
    """Leaves its thread at once: the server goes on with it on the event loop for as long as the client listens.

    `after` is the id of the last entry that the client has, as `Last-Event-ID` or the page says it. A server of another
    kind ends the stream after its first line, and the client comes back.
    """

    def __init__(self, topic: str, *, after: str = "") -> None:
        super().__init__([b"retry: 10000\n\n"], content_type="text/event-stream")
        self.topic, self.after = topic, after
        self.headers["Cache-Control"] = "no-store"
        self.headers["X-Accel-Buffering"] = "no"

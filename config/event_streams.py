"""Server-sent events: they tell open pages what changes.

A topic's newest entries are kept in a Redis stream, so a page that was disconnected for a moment misses none. Each
entry is also published to the web processes that have the topic open (`config/serving/event_streams.py`). No query is
involved. An entry names what changed but holds none of its content. The page fetches the content, with the permissions
of its user.
"""

import time
from collections.abc import Mapping
from typing import Final, cast

import orjson
from django.http import StreamingHttpResponse

from config.redis import RedisUnavailable, call_redis

STREAM_MAXLEN: Final = 200
STREAM_TTL_SECONDS: Final = 3_600
DATA: Final = "data"
# The event that tells a page to fetch everything anew, because more may have changed than the entries say.
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
    """Return the name of a topic's Redis stream, which is also the name of its channel."""
    return f"event-stream:{topic}"


def publish(topic: str, data: Mapping[str, object]) -> None:
    """Tell the pages that have the topic open. Call it after the commit.

    Without Redis no page is told; pages fetch the change later.
    """
    publish_all({topic: data})


def publish_all(entries: Mapping[str, Mapping[str, object]]) -> None:
    """Tell the pages that have these topics open, with one entry for each topic, in one call to Redis."""
    keys, bodies = [stream_key(topic) for topic in entries], [orjson.dumps(data) for data in entries.values()]
    try:
        call_redis(lambda client: client.eval(PUBLISH, len(keys), *keys, STREAM_MAXLEN, STREAM_TTL_SECONDS, *bodies))
    except RedisUnavailable:
        return


def latest_entry_id(topic: str) -> str:
    """Return the id of a topic's newest entry, or an empty string without Redis.

    A page that is being made listens from this entry on. Read the id before the page's content. A change in between is
    then told once too often, but never missed.
    """
    try:
        found = call_redis(
            lambda client: cast("list[tuple[bytes, object]]", client.xrevrange(stream_key(topic), count=1))
        )
    except RedisUnavailable:
        return ""
    return found[0][0].decode() if found else f"{time.time_ns() // 1_000_000 - 1_000}-0"


class EventStreamResponse(StreamingHttpResponse):
    """A response that leaves its thread at once: the server continues it on the event loop while the client listens.

    `after` is the id of the client's last entry, from `Last-Event-ID` or from the page. Another server would end the
    stream after its first line, and the client would reconnect.
    """

    def __init__(self, topic: str, *, after: str = "") -> None:
        super().__init__([b"retry: 10000\n\n"], content_type="text/event-stream")
        self.topic, self.after = topic, after
        self.headers["Cache-Control"] = "no-store"
        self.headers["X-Accel-Buffering"] = "no"

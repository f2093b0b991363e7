"""The event streams open in this process: any number of clients over one connection to Redis, and no thread."""

import asyncio
import logging
import random
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

import redis.asyncio
from redis.exceptions import RedisError

from config.event_streams import DATA, REFETCH, STREAM_MAXLEN, STREAM_TTL_SECONDS, stream_key
from config.metrics import register_gauge
from config.serving.responses import Disconnected

logger = logging.getLogger(__name__)

# Proxies and clients give up a silent connection. A heartbeat also finds out that a client has gone.
HEARTBEAT_SECONDS: Final = 20.0
HEARTBEAT: Final = b":\n\n"
# After this time the client reconnects and its permission is checked again, because it may have been signed out.
LONGEST_SECONDS: Final = 600.0
RECONNECT_SECONDS: Final = 1.0
MOST_STREAMS: Final = 5_000
MOST_WAITING: Final = 50
REFETCH_EVENT: Final = f"event: {REFETCH}\ndata: {{}}\n\n".encode()
ENTRY_ID: Final = re.compile(r"(\d{1,15})-(\d{1,10})")
# A channel that is always subscribed, so that the connection can be read while no stream is open.
ALIVE: Final = "event-stream"


def _position(entry: str) -> tuple[int, int] | None:
    found = ENTRY_ID.fullmatch(entry)
    return (int(found[1]), int(found[2])) if found else None


class EventStream:
    """One client's stream. `after` is the client's last entry. Entries for a slow client become one `refetch`."""

    def __init__(self, hub: "EventStreamHub", topic: str, after: str) -> None:
        self.hub, self.topic = hub, topic
        self.after = _position(after)
        self._waiting: deque[bytes] = deque([b"retry: 2000\n\n"])
        self._changed = asyncio.Event()
        self._ends_at = time.monotonic() + LONGEST_SECONDS * random.uniform(0.8, 1.0)  # noqa: S311  # not a secret
        self._has_joined = self._has_ended = self._client_has_gone = False

    def tell(self, entry: str, data: bytes) -> None:
        """Send an entry, unless the client has it already."""
        position = _position(entry)
        if position is None or (self.after is not None and position <= self.after):
            return
        self.after = position
        self._add(b"id: %s\ndata: %s\n\n" % (entry.encode(), data))

    def tell_to_refetch(self) -> None:
        self._waiting.clear()
        self._add(REFETCH_EVENT)

    def _add(self, event: bytes) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._waiting.clear()
            event = REFETCH_EVENT
        self._waiting.append(event)
        self._changed.set()

    async def read(self) -> bytes:
        """Return what to send: events, a heartbeat after a while without any, or nothing at the end."""
        if not self._has_joined:
            self._has_joined = True
            await self.hub.join(self)
        while True:
            self._changed.clear()
            if self._client_has_gone:
                raise Disconnected
            if self._waiting:
                told = b"".join(self._waiting)
                self._waiting.clear()
                return told
            remaining = self._ends_at - time.monotonic()
            if self._has_ended or remaining <= 0:
                return b""
            try:
                async with asyncio.timeout(min(HEARTBEAT_SECONDS, remaining)):
                    await self._changed.wait()
            except TimeoutError:
                if remaining > HEARTBEAT_SECONDS:
                    return HEARTBEAT

    def leave(self) -> None:
        """Record that the client has gone."""
        self._client_has_gone = True
        self._changed.set()

    def end(self) -> None:
        """End the stream, because this server is about to end."""
        self._has_ended = True
        self._changed.set()

    def close(self) -> None:
        self.hub.part(self)


class EventStreamHub:
    """Passes published entries on to the streams of this process. Everything runs on the event loop."""

    def __init__(self, connect: Callable[[], "redis.asyncio.Redis"]) -> None:
        self._connect = connect
        self._streams: dict[str, set[EventStream]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._subscriber: Any = None
        self._client: redis.asyncio.Redis | None = None
        self._confirmed: dict[str, asyncio.Event] = {}
        self._after_gap: set[str] = set()
        self.is_ending = False
        register_gauge("web_event_streams", lambda: self.size)

    @property
    def size(self) -> int:
        """How many streams are open."""
        return sum(len(streams) for streams in self._streams.values())

    @property
    def is_full(self) -> bool:
        return self.size >= MOST_STREAMS

    async def join(self, stream: EventStream) -> None:
        """Add a stream to its topic. It first gets the entries that it has missed."""
        key = stream_key(stream.topic)
        is_first = key not in self._streams
        self._streams.setdefault(key, set()).add(stream)
        if self.is_ending:
            stream.end()
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())
        elif is_first and self._subscriber is not None:
            await self._quietly(self._subscriber.subscribe(key))
        await self._catch_up(stream, key)

    async def _catch_up(self, stream: EventStream, key: str) -> None:
        """Wait for the subscription, then send the entries published before it, or a `refetch` if they are not known.

        From the subscription on, nothing is missed. Content that a page fetches before it may be out of date at once.
        """
        confirmed = self._confirmed.setdefault(key, asyncio.Event())
        try:
            async with asyncio.timeout(RECONNECT_SECONDS):
                await confirmed.wait()
                if stream.after is not None:
                    await self._tell_missed(stream, key, stream.after)
        except (TimeoutError, RedisError, OSError):
            if confirmed.is_set():
                stream.tell_to_refetch()
            else:
                self._after_gap.add(key)

    async def _tell_missed(self, stream: EventStream, key: str, after: tuple[int, int]) -> None:
        if self._client is None or time.time() - after[0] / 1000 > STREAM_TTL_SECONDS:
            stream.tell_to_refetch()
            return
        kept: Any = await self._client.xrange(key)
        missed = [(entry.decode(), fields[DATA.encode()]) for entry, fields in kept]
        first = _position(missed[0][0]) if missed else None
        if len(missed) >= STREAM_MAXLEN and first is not None and first > after:
            stream.tell_to_refetch()
        for entry, data in missed:
            stream.tell(entry, data)

    def part(self, stream: EventStream) -> None:
        """Remove a stream that has ended."""
        key = stream_key(stream.topic)
        streams = self._streams.get(key, set())
        streams.discard(stream)
        if not streams and self._streams.pop(key, None) is not None:
            self._confirmed.pop(key, None)
            if self._subscriber is not None:
                task = asyncio.ensure_future(self._quietly(self._subscriber.unsubscribe(key)))
                task.add_done_callback(lambda _: None)

    def end_all(self) -> None:
        """End every stream. Clients reconnect to another server."""
        self.is_ending = True
        for stream in self._all():
            stream.end()

    def _all(self) -> list[EventStream]:
        return [stream for streams in self._streams.values() for stream in streams]

    async def _listen(self) -> None:
        """Read published entries for as long as the process lives. After a gap, all streams are told to refetch."""
        while True:
            try:
                await self._listen_once()
            except (RedisError, OSError) as error:
                logger.warning("event streams wait for redis", extra={"fault": type(error).__name__})
            except Exception:
                logger.exception("event streams met a fault")
            self._subscriber = self._client = None
            self._after_gap.update(self._streams)
            for confirmed in self._confirmed.values():
                confirmed.clear()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _listen_once(self) -> None:
        async with self._connect() as client, client.pubsub() as subscriber:
            await subscriber.subscribe(ALIVE, *self._streams)
            self._client, self._subscriber = client, subscriber
            # A stream that joined while the subscription above was being sent is not part of it.
            await subscriber.subscribe(*(ALIVE, *self._streams))
            async for message in subscriber.listen():
                self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        key = message["channel"].decode()
        if message["type"] == "subscribe":
            self._confirm(key)
        elif message["type"] == "message":
            entry, _, data = message["data"].partition(b" ")
            for stream in list(self._streams.get(key, ())):
                stream.tell(entry.decode(), data)

    def _confirm(self, key: str) -> None:
        """Record that a topic is subscribed, so that nothing of it is missed from now on.

        After a gap, streams that were there before may have missed something, so they are told to refetch.
        """
        if key in self._streams:
            self._confirmed.setdefault(key, asyncio.Event()).set()
        if key in self._after_gap:
            self._after_gap.discard(key)
            for stream in list(self._streams.get(key, ())):
                stream.tell_to_refetch()

    async def _quietly(self, command: Awaitable[object]) -> None:
        """Run a command and ignore that Redis is away. The listener makes up for it by itself."""
        try:
            await command
        except (RedisError, OSError):
            return

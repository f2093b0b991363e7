"""Chooses the next file to upload: channels take turns with few files each, and slow uploads have separate places."""

import time
from collections import Counter, deque
from collections.abc import Callable, Hashable
from typing import Final, Generic, NamedTuple, TypeVar

PER_CHANNEL: Final = 2
# Slow uploads, and those of channels whose last upload was slow, have separate places.
QUICK_UPLOADS: Final = 4
SLOW_UPLOADS: Final = 4
AT_ONCE: Final = QUICK_UPLOADS + SLOW_UPLOADS
SLOW_SECONDS: Final = 2.0
REMEMBER_SECONDS: Final = 60.0
# Memory holds a file while it is uploaded, and the request's body made from it. A larger file is uploaded alone.
MOST_BYTES: Final = 128 * 1024 * 1024
# Once smaller files have overtaken a large file for this long, others start only if it still fits beside them.
PASSED_SECONDS: Final = 5.0

Item = TypeVar("Item", bound=Hashable)


class Running(NamedTuple):
    channel: int
    size: int
    began_at: float


class UploadTurns(Generic[Item]):
    """Waiting and running uploads. Only the loop's thread uses it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[int, deque[tuple[Item, int]]] = {}
        self._running: dict[Item, Running] = {}
        self._of_channel: Counter[int] = Counter()
        self._bytes = 0
        self._passed: dict[Item, tuple[int, float]] = {}
        self._slow: set[Item] = set()
        self._slow_until: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self._running) + sum(map(len, self._waiting.values()))

    def add(self, item: Item, *, channel: int, size: int) -> None:
        """Let an item of a channel wait for its turn."""
        self._waiting.setdefault(channel, deque()).append((item, size))

    def take_next(self) -> list[Item]:
        """Return the items to start now. Channels that got an item move to the end of the line."""
        taken: list[Item] = []
        for channel in list(self._waiting):
            waiting, before = self._waiting[channel], len(taken)
            while waiting and self._has_place(channel) and self._has_room(*waiting[0]):
                item, size = waiting.popleft()
                self._start(item, channel, size)
                taken.append(item)
            if len(taken) > before:
                self._end_turn(channel)
        return taken

    def finish(self, item: Item) -> bool:
        """Free an upload's place. Returns whether it was slow."""
        running = self._running.pop(item)
        self._bytes -= running.size
        self._of_channel[running.channel] -= 1
        was_slow = item in self._slow
        self._slow.discard(item)
        if not was_slow:
            self._slow_until.pop(running.channel, None)
        return was_slow

    def mark_slow(self) -> list[Item]:
        """Return the uploads that have become slow since the last call."""
        now = self._clock()
        late = [
            item
            for item, running in self._running.items()
            if item not in self._slow and now - running.began_at >= SLOW_SECONDS
        ]
        self._slow.update(late)
        for item in self._slow:
            self._slow_until[self._running[item].channel] = now + REMEMBER_SECONDS
        self._slow_until = {channel: until for channel, until in self._slow_until.items() if until > now}
        return late

    @property
    def slow(self) -> frozenset[Item]:
        """The uploads that are marked as slow."""
        return frozenset(self._slow)

    def drop_waiting(self) -> None:
        """Drop waiting items. Running uploads keep their places until they end."""
        self._waiting.clear()
        self._passed.clear()

    def _has_room(self, item: Item, size: int) -> bool:
        """Say whether memory has room for a file now, and remember since when it has not."""
        most = self._most_bytes_beside(item)
        if self._bytes + size > most and (self._running or most < MOST_BYTES):
            self._passed.setdefault(item, (size, self._clock()))
            return False
        return True

    def _most_bytes_beside(self, item: Item) -> int:
        """Return how many bytes may be held beside `item`, minus those for a file that was overtaken for too long."""
        before = self._clock() - PASSED_SECONDS
        passed = next(((one, size) for one, (size, since) in self._passed.items() if since <= before), None)
        return MOST_BYTES if passed is None or passed[0] == item else max(0, MOST_BYTES - passed[1])

    def _has_place(self, channel: int) -> bool:
        if self._of_channel[channel] >= (1 if channel in self._slow_until else PER_CHANNEL):
            return False
        slow = sum(one.channel in self._slow_until for one in self._running.values())
        if channel in self._slow_until:
            return slow < SLOW_UPLOADS
        return len(self._running) - slow < QUICK_UPLOADS and len(self._running) < AT_ONCE

    def _start(self, item: Item, channel: int, size: int) -> None:
        self._running[item] = Running(channel, size, self._clock())
        self._of_channel[channel] += 1
        self._bytes += size
        self._passed.pop(item, None)

    def _end_turn(self, channel: int) -> None:
        waiting = self._waiting.pop(channel)
        if waiting:
            self._waiting[channel] = waiting

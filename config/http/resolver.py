"""Looks host names up beside the event loop, with few threads and in bounded time."""

import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

from config.http.guard import is_internal_name


class LookupFailed(Exception):
    """A name could not be looked up now: no answer came in time, or the name server failed."""


def system_lookup(host: str) -> tuple[str, ...]:
    """Return all addresses of a name; none if there is no such name. Raises LookupFailed.

    The name is looked up as absolute, so that no search domain completes it. Internal names are looked up as they are,
    because the hosts file does not know the absolute spelling.
    """
    name = host if is_internal_name(host) else f"{host}."
    try:
        answers = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, socket.EAI_NODATA):
            return ()
        raise LookupFailed from error
    except (OSError, UnicodeError) as error:
        raise LookupFailed from error
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))


Addresses = tuple[str, ...]
_MOST_REMEMBERED: Final = 10_000
LONGEST_TTL_S: Final = 5.0


class _Lookup:
    """A look-up under way, shared by all who wait for it."""

    __slots__ = ("deadline", "future", "host", "settled", "zone")

    def __init__(self, host: str, deadline: float) -> None:
        self.host = host
        self.zone = ".".join(host.rsplit(".", 2)[-2:])
        self.deadline = deadline
        self.future: Future[Addresses] = Future()
        self.settled = False  # guarded by the resolver's lock; the thread that sets it answers


class Resolver:
    """A bounded pool of look-ups.

    All who ask for a name while it is looked up share that look-up. Names that end in the same two labels get at most a
    quarter of the threads, so that dead name servers of one domain leave room for the others. After `timeout_s`, which
    includes time in the queue, a look-up fails with LookupFailed. Its thread stays busy until the operating system
    gives up. Another thread stands in for it (up to four times `threads` in all), and the same name fails at once
    meanwhile.

    `ttl_s` (at most 5, 0 for none) is how long answers with an address are remembered.
    """

    def __init__(
        self,
        lookup: Callable[[str], Addresses] = system_lookup,
        *,
        threads: int = 16,
        timeout_s: float = 2.0,
        ttl_s: float = 0.0,
    ) -> None:
        self._look_up = lookup
        self._most_threads = threads
        self._most_per_zone = max(1, threads // 4)
        self._timeout_s = timeout_s
        self._ttl_s = min(ttl_s, LONGEST_TTL_S)
        self._changed = threading.Condition()
        self._running: dict[str, _Lookup] = {}
        self._waiting: deque[_Lookup] = deque()
        self._by_deadline: deque[_Lookup] = deque()
        self._busy: Counter[str] = Counter()
        self._remembered: dict[str, tuple[float, Addresses]] = {}
        self._threads = 0
        self._idle = 0
        self._stuck = 0
        self._watched = False
        self._closed = False

    def remembered(self, host: str) -> Addresses | None:
        """Return the remembered answer of the last few seconds, or None."""
        known = self._remembered.get(host)
        if known is None or known[0] <= time.monotonic():
            return None
        return known[1]

    def submit(self, host: str) -> "Future[Addresses]":
        """Look a name up. Within `timeout_s` the future holds its addresses or raises LookupFailed.

        The future is shared, so do not cancel it. Its callbacks run in a thread of the resolver.
        """
        known = self.remembered(host)
        if known is not None:
            return _answered(known)
        with self._changed:
            if self._closed:
                return _failed()
            lookup = self._running.get(host)
            if lookup is not None:
                return _failed() if lookup.settled else lookup.future
            lookup = _Lookup(host, time.monotonic() + self._timeout_s)
            self._running[host] = lookup
            self._waiting.append(lookup)
            self._by_deadline.append(lookup)
            self._start_missing_threads()
            self._changed.notify_all()
            return lookup.future

    def resolve(self, host: str) -> Addresses:
        """Look a name up and wait for the answer. Raises LookupFailed."""
        return self.submit(host).result()

    def close(self) -> None:
        """Fail all look-ups under way and let the threads end."""
        with self._changed:
            self._closed = True
            abandoned = [lookup for lookup in self._running.values() if _settle(lookup)]
            self._changed.notify_all()
        for lookup in abandoned:
            lookup.future.set_exception(LookupFailed())

    def _start_missing_threads(self) -> None:
        """Start the threads that are missing. The caller holds the lock."""
        if not self._watched:
            self._watched = True
            threading.Thread(target=self._watch_deadlines, name="lookup-deadlines", daemon=True).start()
        most = min(self._most_threads + self._stuck, 4 * self._most_threads)
        if self._idle < len(self._waiting) and self._threads < most:
            self._threads += 1
            threading.Thread(target=self._run_lookups, name="lookup", daemon=True).start()

    def _run_lookups(self) -> None:
        while (lookup := self._take()) is not None:
            answer: Addresses | None = None
            try:
                answer = self._look_up(lookup.host)
            except (LookupFailed, OSError, ValueError):
                answer = None
            finally:
                self._finish(lookup, answer)

    def _take(self) -> _Lookup | None:
        """Wait for a look-up that may start now; None once the resolver is closed."""
        with self._changed:
            while not self._closed:
                for lookup in self._waiting:
                    if self._busy[lookup.zone] < self._most_per_zone:
                        self._waiting.remove(lookup)
                        self._busy[lookup.zone] += 1
                        return lookup
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            return None

    def _finish(self, lookup: _Lookup, answer: Addresses | None) -> None:
        with self._changed:
            self._busy[lookup.zone] -= 1
            if not self._busy[lookup.zone]:
                del self._busy[lookup.zone]
            del self._running[lookup.host]
            if answer and self._ttl_s > 0:
                self._remember(lookup.host, answer)
            self._stuck -= lookup.settled
            mine = _settle(lookup)
            self._changed.notify_all()
        if mine and answer is not None:
            lookup.future.set_result(answer)
        elif mine:
            lookup.future.set_exception(LookupFailed())

    def _remember(self, host: str, answer: Addresses) -> None:
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[host] = (time.monotonic() + self._ttl_s, answer)

    def _watch_deadlines(self) -> None:
        while (late := self._take_late()) is not None:
            late.future.set_exception(LookupFailed())

    def _take_late(self) -> _Lookup | None:
        """Wait for the next look-up whose time is over; None once the resolver is closed."""
        with self._changed:
            while not self._closed:
                while self._by_deadline and self._by_deadline[0].settled:
                    self._by_deadline.popleft()
                if not self._by_deadline:
                    self._changed.wait()
                    continue
                left = self._by_deadline[0].deadline - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                    continue
                late = self._by_deadline.popleft()
                late.settled = True
                if late in self._waiting:
                    self._waiting.remove(late)
                    del self._running[late.host]
                else:
                    self._stuck += 1
                    self._start_missing_threads()
                return late
            return None


def _settle(lookup: _Lookup) -> bool:
    """Return whether the caller must answer the look-up. The caller holds the resolver's lock."""
    if lookup.settled:
        return False
    lookup.settled = True
    return True


def _answered(answer: Addresses) -> "Future[Addresses]":
    future: Future[Addresses] = Future()
    future.set_result(answer)
    return future


def _failed() -> "Future[Addresses]":
    future: Future[Addresses] = Future()
    future.set_exception(LookupFailed())
    return future

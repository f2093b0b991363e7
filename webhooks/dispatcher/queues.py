"""Who may send now: the endpoints' queues take turns, and only as much is leased as gets done."""

import time
from collections import Counter, deque
from collections.abc import Iterable

from webhooks.dispatcher.endpoint_queue import (
    NEW,
    PER_ENDPOINT,
    QUICK,
    SLOW,
    SLOW_SECONDS,
    ConcurrencyLimits,
    EndpointQueue,
    TenantQuota,
)
from webhooks.dispatcher.queries import LeasedDelivery

MOST_LEASED = 4_000
# How many deliveries to lease for an endpoint that has none leased.
FIRST_CLAIM = 4
PATIENCE_SECONDS = 5.0
_MOST_SLOW_WAITING = 512  # of an agency
_REMEMBERED = 10_000


class EndpointQueues:
    """All endpoints' queues of one dispatcher. Only the thread of the event loop uses them."""

    def __init__(self) -> None:
        self.known: set[int] = set()  # endpoints that succeeded last
        self.limits = ConcurrencyLimits(new=224, quick=448, slow=256)
        self.leased = 0
        self.suspects = 0
        self.finished = 0
        self._queues: dict[int, EndpointQueue] = {}
        self._quotas: dict[int, TenantQuota] = {}
        self._lines: tuple[deque[EndpointQueue], deque[EndpointQueue], deque[EndpointQueue]] = (
            deque(),
            deque(),
            deque(),
        )
        self._speed_of: dict[int, int] = {}  # of each delivery in flight, as it is counted
        self._active: dict[int, EndpointQueue] = {}  # with something leased, or lately so

    @property
    def in_flight(self) -> int:
        return len(self._speed_of)

    def add(self, leased: Iterable[LeasedDelivery]) -> None:
        """Take in leased deliveries."""
        now = time.monotonic()
        for row in leased:
            queue = self._queues.get(row.endpoint_id) or self._open(row)
            queue.waiting.append((row, now))
            queue.quota.leased += 1
            self.leased += 1
            self.suspects += row.is_suspect
            self._active[row.endpoint_id] = queue
            if not queue.is_scheduled:
                self._schedule(queue)

    def _open(self, row: LeasedDelivery) -> EndpointQueue:
        quota = self._quotas.setdefault(row.agency_id, TenantQuota())
        queue = EndpointQueue(row.endpoint_id, row.agency_id, quota, is_known=row.endpoint_id in self.known)
        self._queues[row.endpoint_id] = queue
        return queue

    def _schedule(self, queue: EndpointQueue) -> None:
        if queue.waiting and queue.in_flight < queue.slots:
            queue.is_scheduled = True
            self._lines[queue.speed].append(queue)

    def take(self) -> list[LeasedDelivery]:
        """Give what may be sent now, one of each endpoint in turn."""
        starting: list[LeasedDelivery] = []
        for speed, line in enumerate(self._lines):
            while line and self.limits.has_room(speed):
                queue = line.popleft()
                if queue.speed != speed:
                    self._lines[queue.speed].append(queue)
                elif not queue.quota.limits.has_room(speed):
                    queue.quota.blocked[speed].append(queue)  # stays scheduled: it stands in the agency's own line
                else:
                    self._start(queue, starting)
        return starting

    def _start(self, queue: EndpointQueue, starting: list[LeasedDelivery]) -> None:
        quota, speed = queue.quota, queue.speed
        queue.is_scheduled = False
        if not queue.waiting or queue.in_flight >= queue.slots:
            self._unblock(quota, speed)
            return
        row = queue.waiting.popleft()[0]
        starting.append(row)
        queue.in_flight += 1
        quota.limits.in_flight[speed] += 1
        self.limits.in_flight[speed] += 1
        self._speed_of[row.id] = speed
        self._schedule(queue)

    def _unblock(self, quota: TenantQuota, speed: int) -> None:
        """A slot of the agency is free: the next of its queues that wait for one may come."""
        for one in (SLOW,) if speed == SLOW else (QUICK, NEW):
            if quota.blocked[one]:
                queue = quota.blocked[one].popleft()
                self._lines[queue.speed].append(queue)

    def finish(self, row: LeasedDelivery, seconds: float, *, failed: bool) -> None:
        """Note that an attempt ended after so many seconds."""
        queue = self._queues[row.endpoint_id]
        quota = queue.quota
        queue.in_flight -= 1
        self.finished += 1
        speed = self._speed_of.pop(row.id)
        quota.limits.in_flight[speed] -= 1
        self.limits.in_flight[speed] -= 1
        queue.attempt_seconds = 0.8 * queue.attempt_seconds + 0.2 * seconds
        is_slow = seconds >= SLOW_SECONDS
        if not is_slow:
            quota.attempt_seconds = 0.95 * quota.attempt_seconds + 0.05 * seconds
        queue.speed = SLOW if is_slow else QUICK
        queue.slots = 1 if is_slow and failed else min(queue.slots * 2, PER_ENDPOINT)
        self._release(row, quota)
        self._unblock(quota, speed)
        if not queue.is_scheduled:
            self._schedule(queue)

    def mark_slow(self, row: LeasedDelivery) -> None:
        """An attempt is out for longer than a second: it gives its slot back and takes one among the slow."""
        speed, queue = self._speed_of[row.id], self._queues[row.endpoint_id]
        queue.speed = SLOW
        if speed != SLOW and self.limits.has_room(SLOW) and queue.quota.limits.has_room(SLOW):
            self._speed_of[row.id] = SLOW
            for limits in (self.limits, queue.quota.limits):
                limits.in_flight[speed] -= 1
                limits.in_flight[SLOW] += 1
            self._unblock(queue.quota, speed)

    def _release(self, row: LeasedDelivery, quota: TenantQuota) -> None:
        quota.leased -= 1
        self.leased -= 1
        self.suspects -= row.is_suspect

    def drop_waiting(self, *, longer_than: float = 0.0) -> list[LeasedDelivery]:
        """Give up what is leased for so long without being sent."""
        latest = time.monotonic() - longer_than
        dropped: list[LeasedDelivery] = []
        for queue in self._active.values():
            while queue.waiting and queue.waiting[0][1] <= latest:
                row = queue.waiting.popleft()[0]
                self._release(row, queue.quota)
                dropped.append(row)
        return dropped

    def forget_idle(self) -> None:
        """Leave endpoints at rest out of `rooms`, but for slow ones, and remember no more than ten thousand."""
        self._active = {key: queue for key, queue in self._active.items() if queue.leased or queue.speed == SLOW}
        if len(self._queues) > _REMEMBERED:
            self._active = {key: queue for key, queue in self._active.items() if queue.leased}
            scheduled = {key: queue for key, queue in self._queues.items() if queue.is_scheduled}
            self._queues = {**scheduled, **self._active}
            agencies = {queue.agency_id for queue in self._queues.values()}
            self._quotas = {key: quota for key, quota in self._quotas.items() if key in agencies}

    def rooms(self) -> dict[int, int]:
        """How many more deliveries to lease for each endpoint that has some leased, or had lately."""
        return {key: queue.room for key, queue in self._active.items()}

    def leased_agencies(self) -> tuple[list[int], list[int]]:
        """Agencies with something leased, and those that have enough.

        What slow endpoints have leased is counted apart, so that the others of their agency go on.
        """
        quick: Counter[int] = Counter()
        slow: Counter[int] = Counter()
        for queue in self._active.values():
            if queue.speed == SLOW:
                slow[queue.agency_id] += len(queue.waiting)
            else:
                quick[queue.agency_id] += queue.leased
        held = [key for key, quota in self._quotas.items() if quota.leased]
        full = [key for key in held if quick[key] >= self._quotas[key].enough or slow[key] >= _MOST_SLOW_WAITING]
        return held, full

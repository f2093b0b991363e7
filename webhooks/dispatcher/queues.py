"""The claimed deliveries in memory, in one queue for each endpoint."""

import time
from collections import Counter, deque
from collections.abc import Iterable
from typing import NamedTuple

from webhooks.dispatcher.queries import LeasedDelivery, tenant_number

# Attempts in flight count under one of three limits. Fast endpoints, which answer within a second, get most slots; new
# endpoints get a few; attempts that take longer than a second have their own limit. So endpoints that hang take no
# slots from endpoints that answer, of any tenant. A tenant is an agency itself or one of its workspaces. Each tenant
# has a quota. All tenants of an agency share another quota, which is only a little larger. So many busy workspaces
# take no more from other agencies than one agency may.

PER_ENDPOINT = 8
SLOW_SECONDS = 1.0
_AHEAD_SECONDS = 2.0
_MOST_PER_ENDPOINT = 512

TenantKey = tuple[int, int | None]  # the primary keys of the agency and the workspace
# An endpoint's speed. It decides under which limit the endpoint's attempts count.
NEW, QUICK, SLOW = 0, 1, 2


class ConcurrencyLimits:
    """Counts attempts in flight by their endpoints' speed, and their limits. The limit `quick` includes `new`."""

    __slots__ = ("in_flight", "new", "quick", "slow")

    def __init__(self, *, new: int, quick: int, slow: int) -> None:
        self.new, self.quick, self.slow = new, quick, slow
        self.in_flight = [0, 0, 0]

    def has_room(self, speed: int) -> bool:
        new, quick, slow = self.in_flight
        if speed == SLOW:
            return slow < self.slow
        return new + quick < self.quick and (speed == QUICK or new < self.new)


class Quota:
    """The attempts in flight of a tenant or agency, and the endpoints' queues that wait for its slots.

    `most_ahead` limits the leased deliveries of endpoints that are not slow, `most_slow_waiting` those of slow ones.
    """

    __slots__ = ("attempt_seconds", "blocked", "has_blocked", "limits", "most_ahead", "most_slow_waiting")

    def __init__(self, limits: ConcurrencyLimits, *, most_ahead: int, most_slow_waiting: int) -> None:
        self.limits = limits
        self.most_ahead = most_ahead
        self.most_slow_waiting = most_slow_waiting
        self.attempt_seconds = 0.5
        self.has_blocked = False
        self.blocked: tuple[deque[EndpointQueue], deque[EndpointQueue], deque[EndpointQueue]] = (
            deque(),
            deque(),
            deque(),
        )

    def block(self, queue: "EndpointQueue", speed: int) -> None:
        """Let a queue wait for a slot of this quota."""
        self.blocked[speed].append(queue)
        self.has_blocked = True

    @property
    def enough(self) -> int:
        """The number of deliveries to lease for endpoints that are not slow."""
        return _ahead(self.limits.quick, self.attempt_seconds, self.most_ahead)


class AgencyQuota(Quota):
    """The quota of all tenants of an agency together. `leased` counts their leased deliveries."""

    __slots__ = ("leased",)

    def __init__(self) -> None:
        limits = ConcurrencyLimits(new=48, quick=96, slow=160)
        super().__init__(limits, most_ahead=2_048, most_slow_waiting=640)
        self.leased = 0


class TenantQuota(Quota):
    """One tenant's share of its agency's quota. A workspace gets less than the agency itself."""

    __slots__ = ("agency",)

    def __init__(self, agency: AgencyQuota, *, is_workspace: bool) -> None:
        if is_workspace:
            limits = ConcurrencyLimits(new=16, quick=32, slow=48)
            super().__init__(limits, most_ahead=1_024, most_slow_waiting=192)
        else:
            limits = ConcurrencyLimits(new=32, quick=64, slow=128)
            super().__init__(limits, most_ahead=1_536, most_slow_waiting=512)
        self.agency = agency


class EndpointQueue:
    """One endpoint's leased deliveries, waiting and in flight. `attempt_seconds` is the usual time of an attempt.

    `slots` is how many may be in flight at once. It starts at one, doubles with every answer up to eight, and falls to
    one after a slow failure. `is_scheduled` means that the queue waits for a slot.
    """

    __slots__ = (
        "attempt_seconds",
        "endpoint_id",
        "in_flight",
        "is_scheduled",
        "quota",
        "slots",
        "speed",
        "tenant",
        "waiting",
    )

    def __init__(self, endpoint_id: int, tenant: TenantKey, quota: TenantQuota, *, is_known: bool) -> None:
        self.endpoint_id = endpoint_id
        self.tenant = tenant
        self.quota = quota
        self.waiting: deque[tuple[LeasedDelivery, float]] = deque()
        self.in_flight = 0
        self.speed, self.slots = (QUICK, PER_ENDPOINT) if is_known else (NEW, 1)
        self.attempt_seconds = 0.5
        self.is_scheduled = False

    @property
    def room(self) -> int:
        """The number of further deliveries to lease. For a slow endpoint, only as many as can be in flight."""
        most = self.slots if self.speed == SLOW else _ahead(self.slots, self.attempt_seconds, _MOST_PER_ENDPOINT)
        return max(most - self.leased, 0)

    @property
    def leased(self) -> int:
        return len(self.waiting) + self.in_flight


def _ahead(slots: int, attempt_seconds: float, most: int) -> int:
    """Return the number of deliveries to lease for so many slots: enough for two seconds."""
    return max(slots, min(int(slots * _AHEAD_SECONDS / max(attempt_seconds, 0.001)), most))


MOST_LEASED = 4_000
# The number of deliveries to lease for an endpoint without any.
FIRST_CLAIM = 4
PATIENCE_SECONDS = 5.0
_REMEMBERED = 10_000


class FullTenants(NamedTuple):
    """The agencies and the tenants (see `tenant_number`) that have enough deliveries leased."""

    full_agencies: list[int]
    full_tenants: list[int]


class EndpointQueues:
    """The queues of all endpoints of one dispatcher. Only the event loop's thread uses them."""

    def __init__(self) -> None:
        self.known: set[int] = set()  # endpoints whose last delivery succeeded
        self.limits = ConcurrencyLimits(new=224, quick=448, slow=256)
        self.leased = 0
        self.suspects = 0
        self.finished = 0
        self._queues: dict[int, EndpointQueue] = {}
        self._quotas: dict[TenantKey, TenantQuota] = {}
        self._agencies: dict[int, AgencyQuota] = {}
        self._scheduled: tuple[deque[EndpointQueue], deque[EndpointQueue], deque[EndpointQueue]] = (
            deque(),
            deque(),
            deque(),
        )
        self._speed_of: dict[int, int] = {}  # the speed under which each delivery in flight counts
        self._active: dict[int, EndpointQueue] = {}  # queues that have leased deliveries or had some recently

    @property
    def in_flight(self) -> int:
        return len(self._speed_of)

    def add(self, leased: Iterable[LeasedDelivery]) -> None:
        """Add leased deliveries to their queues."""
        now = time.monotonic()
        for row in leased:
            queue = self._queues.get(row.endpoint_id) or self._open(row)
            queue.waiting.append((row, now))
            queue.quota.agency.leased += 1
            self.leased += 1
            self.suspects += row.is_suspect
            self._active[row.endpoint_id] = queue
            if not queue.is_scheduled:
                self._schedule(queue)

    def _open(self, row: LeasedDelivery) -> EndpointQueue:
        tenant = (row.agency_id, row.workspace_id)
        quota = self._quotas.get(tenant) or self._open_quota(tenant)
        queue = EndpointQueue(row.endpoint_id, tenant, quota, is_known=row.endpoint_id in self.known)
        self._queues[row.endpoint_id] = queue
        return queue

    def _open_quota(self, tenant: TenantKey) -> TenantQuota:
        agency_id, workspace_id = tenant
        agency = self._agencies.setdefault(agency_id, AgencyQuota())
        quota = self._quotas[tenant] = TenantQuota(agency, is_workspace=workspace_id is not None)
        return quota

    def _schedule(self, queue: EndpointQueue) -> None:
        if queue.waiting and queue.in_flight < queue.slots:
            queue.is_scheduled = True
            self._scheduled[queue.speed].append(queue)

    def take(self) -> list[LeasedDelivery]:
        """Return the deliveries that may be sent now, one of each endpoint in turn."""
        starting: list[LeasedDelivery] = []
        for speed, scheduled in enumerate(self._scheduled):
            while scheduled and self.limits.has_room(speed):
                queue = scheduled.popleft()
                if queue.speed != speed:
                    self._scheduled[queue.speed].append(queue)
                    self._unblock_all(queue.quota, speed)  # its slot goes to the next queue
                elif not self._is_blocked(queue, speed):
                    self._start(queue, starting)
        return starting

    def _is_blocked(self, queue: EndpointQueue, speed: int) -> bool:
        """If its tenant or agency has no free slot, let the queue wait for one and return True. It stays scheduled.

        If the tenant has no slot, the agency's slot for this queue goes to the next queue.
        """
        tenant, agency = queue.quota, queue.quota.agency
        if not tenant.limits.has_room(speed):
            tenant.block(queue, speed)
            self._unblock(agency, speed)
            return True
        if not agency.limits.has_room(speed):
            agency.block(queue, speed)
            return True
        return False

    def _start(self, queue: EndpointQueue, starting: list[LeasedDelivery]) -> None:
        quota, speed = queue.quota, queue.speed
        queue.is_scheduled = False
        if not queue.waiting or queue.in_flight >= queue.slots:
            self._unblock_all(quota, speed)
            return
        row = queue.waiting.popleft()[0]
        starting.append(row)
        queue.in_flight += 1
        self.limits.in_flight[speed] += 1
        quota.limits.in_flight[speed] += 1
        quota.agency.limits.in_flight[speed] += 1
        self._speed_of[row.id] = speed
        self._schedule(queue)

    def _unblock_all(self, quota: TenantQuota, speed: int) -> None:
        """Let the next queues use a free slot of the tenant and of its agency."""
        self._unblock(quota, speed)
        self._unblock(quota.agency, speed)

    def _unblock(self, quota: Quota, speed: int) -> None:
        """Schedule the next queue that waits for a slot of this quota."""
        if not quota.has_blocked:
            return
        for one in (SLOW,) if speed == SLOW else (QUICK, NEW):
            if quota.blocked[one]:
                queue = quota.blocked[one].popleft()
                self._scheduled[queue.speed].append(queue)
        quota.has_blocked = any(quota.blocked)

    def finish(self, row: LeasedDelivery, seconds: float, *, failed: bool) -> None:
        """Record that an attempt ended after so many seconds."""
        queue = self._queues[row.endpoint_id]
        quota = queue.quota
        queue.in_flight -= 1
        self.finished += 1
        speed = self._speed_of.pop(row.id)
        agency = quota.agency
        self.limits.in_flight[speed] -= 1
        quota.limits.in_flight[speed] -= 1
        agency.limits.in_flight[speed] -= 1
        queue.attempt_seconds = 0.8 * queue.attempt_seconds + 0.2 * seconds
        is_slow = seconds >= SLOW_SECONDS
        if not is_slow:
            quota.attempt_seconds = 0.95 * quota.attempt_seconds + 0.05 * seconds
            agency.attempt_seconds = 0.95 * agency.attempt_seconds + 0.05 * seconds
        queue.speed = SLOW if is_slow else QUICK
        queue.slots = 1 if is_slow and failed else min(queue.slots * 2, PER_ENDPOINT)
        self._release(row, quota)
        self._unblock_all(quota, speed)
        if not queue.is_scheduled:
            self._schedule(queue)

    def mark_slow(self, row: LeasedDelivery) -> None:
        """Move an attempt of more than a second to a slot for slow ones, which frees its own slot."""
        speed, queue = self._speed_of[row.id], self._queues[row.endpoint_id]
        queue.speed = SLOW
        every = (self.limits, queue.quota.limits, queue.quota.agency.limits)
        if speed != SLOW and all(limits.has_room(SLOW) for limits in every):
            self._speed_of[row.id] = SLOW
            for limits in every:
                limits.in_flight[speed] -= 1
                limits.in_flight[SLOW] += 1
            self._unblock_all(queue.quota, speed)

    def _release(self, row: LeasedDelivery, quota: TenantQuota) -> None:
        quota.agency.leased -= 1
        self.leased -= 1
        self.suspects -= row.is_suspect

    def drop_waiting(self, *, longer_than: float = 0.0) -> list[LeasedDelivery]:
        """Remove and return the deliveries that have waited for longer than this since they were leased."""
        latest = time.monotonic() - longer_than
        dropped: list[LeasedDelivery] = []
        for queue in self._active.values():
            while queue.waiting and queue.waiting[0][1] <= latest:
                row = queue.waiting.popleft()[0]
                self._release(row, queue.quota)
                dropped.append(row)
        return dropped

    def forget_idle(self) -> None:
        """Drop idle endpoints from `rooms`, except slow ones. Beyond ten thousand endpoints, forget idle ones."""
        self._active = {key: queue for key, queue in self._active.items() if queue.leased or queue.speed == SLOW}
        if len(self._queues) > _REMEMBERED:
            self._active = {key: queue for key, queue in self._active.items() if queue.leased}
            scheduled = {key: queue for key, queue in self._queues.items() if queue.is_scheduled}
            self._queues = {**scheduled, **self._active}
            self._quotas = {queue.tenant: queue.quota for queue in self._queues.values()}
            self._agencies = {tenant[0]: quota.agency for tenant, quota in self._quotas.items()}

    def rooms(self) -> dict[int, int]:
        """Return how many further deliveries to lease for each endpoint that has or recently had leased ones."""
        return {key: queue.room for key, queue in self._active.items()}

    def busy(self) -> list[int]:
        """Return the endpoints with leased deliveries."""
        return [key for key, queue in self._active.items() if queue.leased]

    def slow(self) -> list[int]:
        """Return the busy endpoints that are slow."""
        return [key for key, queue in self._active.items() if queue.leased and queue.speed == SLOW]

    def full_tenants(self) -> FullTenants:
        """Return the agencies and tenants that have enough deliveries leased.

        Leases of slow endpoints are counted separately, so that the tenant's other endpoints go on.
        """
        quick: Counter[Quota] = Counter()
        slow: Counter[Quota] = Counter()
        for queue in self._active.values():
            if queue.speed == SLOW:
                slow[queue.quota] += len(queue.waiting)
            else:
                quick[queue.quota] += queue.leased
        tenants = {queue.tenant: queue.quota for queue in self._active.values()}
        for quota in tenants.values():
            quick[quota.agency] += quick[quota]
            slow[quota.agency] += slow[quota]

        def has_enough(quota: Quota) -> bool:
            return quick[quota] >= quota.enough or slow[quota] >= quota.most_slow_waiting

        held = {key: agency for key, agency in self._agencies.items() if agency.leased}
        return FullTenants(
            full_agencies=[key for key, agency in held.items() if has_enough(agency)],
            full_tenants=[tenant_number(*key) for key, quota in tenants.items() if has_enough(quota)],
        )

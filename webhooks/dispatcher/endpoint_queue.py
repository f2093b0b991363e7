"""One endpoint's queue, and the limits of attempts in flight for an endpoint, its tenant, the agency and in total.

Attempts in flight count under one of three limits. Fast endpoints, which answer within a second, get most slots; new
endpoints get a few; attempts that take longer than a second have their own limit. So endpoints that hang take no slots
from endpoints that answer, of any tenant.

A tenant is an agency itself or one of its workspaces. Each tenant has a quota. All tenants of an agency share another
quota, which is only a little larger. So many busy workspaces take no more from other agencies than one agency may.
"""

from collections import deque

from webhooks.dispatcher.queries import LeasedDelivery

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

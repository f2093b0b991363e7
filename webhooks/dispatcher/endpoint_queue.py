"""One endpoint's queue, and how many attempts may be in flight: for it, its tenant, the tenant's agency and in all.

Attempts in flight count under one of three limits. Endpoints that answer within a second have most of the slots, those
that nobody knows yet some of them, and what is out for longer than a second counts under a limit of its own. So
endpoints that hang take nothing from those that answer, neither of their own tenant nor of another.

A tenant is an agency's own, or one of its workspaces. Each has a quota, and all tenants of an agency together have one
that is little larger: however many workspaces are busy, they take from other agencies no more than one agency may.
"""

from collections import deque

from webhooks.dispatcher.queries import LeasedDelivery

PER_ENDPOINT = 8
SLOW_SECONDS = 1.0
_AHEAD_SECONDS = 2.0
_MOST_PER_ENDPOINT = 512

TenantKey = tuple[int, int | None]  # the agency's number, the workspace's
# How fast an endpoint answers, which says under which limit its attempts count.
NEW, QUICK, SLOW = 0, 1, 2


class ConcurrencyLimits:
    """Attempts in flight by the speed of their endpoints, within limits: `quick` includes `new`."""

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
    """What is in flight, and the endpoints' queues that wait for a slot.

    `most_ahead` and `most_slow_waiting` bound what is leased: for endpoints that are not slow, and for those that are.
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
        """Let a queue wait here for a slot."""
        self.blocked[speed].append(queue)
        self.has_blocked = True

    @property
    def enough(self) -> int:
        """How many deliveries to have leased for endpoints that are not slow."""
        return _ahead(self.limits.quick, self.attempt_seconds, self.most_ahead)


class AgencyQuota(Quota):
    """What all tenants of an agency may take together; `leased` counts their deliveries."""

    __slots__ = ("leased",)

    def __init__(self) -> None:
        limits = ConcurrencyLimits(new=48, quick=96, slow=160)
        super().__init__(limits, most_ahead=2_048, most_slow_waiting=640)
        self.leased = 0


class TenantQuota(Quota):
    """What one tenant may take of its agency's quota: a workspace less than the agency for itself."""

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
    """One endpoint's deliveries, waiting and in flight; `attempt_seconds` is what an attempt takes there.

    `slots` is how many may be in flight at once: one at first, more with every answer up to eight, one after a slow
    failure. `is_scheduled` says that it waits for a slot.
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
        """How many more to lease; of a slow endpoint's only what can be in flight."""
        most = self.slots if self.speed == SLOW else _ahead(self.slots, self.attempt_seconds, _MOST_PER_ENDPOINT)
        return max(most - self.leased, 0)

    @property
    def leased(self) -> int:
        return len(self.waiting) + self.in_flight


def _ahead(slots: int, attempt_seconds: float, most: int) -> int:
    """How many deliveries to have leased for so many slots: two seconds' worth."""
    return max(slots, min(int(slots * _AHEAD_SECONDS / max(attempt_seconds, 0.001)), most))

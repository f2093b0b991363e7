"""One endpoint's queue, and how many attempts may be in flight: for the endpoint, for its agency and in all.

Attempts in flight count under one of three limits. Endpoints that answer within a second have most of the slots, those
that nobody knows yet some of them, and what is out for longer than a second counts under a limit of its own. So
endpoints that hang take nothing from those that answer, neither in their own agency nor in another.
"""

from collections import deque

from webhooks.dispatcher.queries import LeasedDelivery

PER_ENDPOINT = 8
SLOW_SECONDS = 1.0
_AHEAD_SECONDS = 2.0
_MOST_PER_ENDPOINT = 512
_MOST_PER_AGENCY = 2_048

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


class TenantQuota:
    """What one agency has in flight and leased, and its endpoints' queues that wait for a slot of it."""

    __slots__ = ("attempt_seconds", "blocked", "leased", "limits")

    def __init__(self) -> None:
        self.limits = ConcurrencyLimits(new=32, quick=64, slow=128)
        self.leased = 0
        self.attempt_seconds = 0.5
        self.blocked: tuple[deque[EndpointQueue], deque[EndpointQueue], deque[EndpointQueue]] = (
            deque(),
            deque(),
            deque(),
        )

    @property
    def enough(self) -> int:
        """How many deliveries to have leased for endpoints that are not slow."""
        return _ahead(self.limits.quick, self.attempt_seconds, _MOST_PER_AGENCY)


class EndpointQueue:
    """One endpoint's deliveries, waiting and in flight; `attempt_seconds` is what an attempt takes there.

    `slots` is how many may be in flight at once: one at first, more with every answer up to eight, one after a slow
    failure. `is_scheduled` says that it stands in one of the lines for a slot.
    """

    __slots__ = (
        "agency_id",
        "attempt_seconds",
        "endpoint_id",
        "in_flight",
        "is_scheduled",
        "quota",
        "slots",
        "speed",
        "waiting",
    )

    def __init__(self, endpoint_id: int, agency_id: int, quota: TenantQuota, *, is_known: bool) -> None:
        self.endpoint_id = endpoint_id
        self.agency_id = agency_id
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

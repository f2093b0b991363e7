"""Who may send now: so many in flight per endpoint, per agency and in all, and only as much in hand as gets done.

Attempts in flight stand in one of three pools. Endpoints that answer within a second have most of the places, those
that nobody knows yet some of them, and what is out for longer than a second goes into a pool of its own. So endpoints
that hang take nothing from those that answer, neither in their own agency nor in another.
"""

import time
from collections import Counter, deque
from collections.abc import Iterable

from webhooks.courier.rows import Leased

PER_ENDPOINT = 8
IN_HAND = 4_000
# How many deliveries to lease for an endpoint that has none in hand.
FIRST_CLAIM = 4
SLOW_SECONDS = 1.0
PATIENCE_SECONDS = 5.0
_AHEAD_SECONDS = 2.0
_MOST_PER_ENDPOINT = 512
_MOST_PER_AGENCY = 2_048
_MOST_SLOW_WAITING = 512  # of an agency
_REMEMBERED = 10_000

NEW, QUICK, SLOW = 0, 1, 2


class Pools:
    """Attempts in flight by pool, within limits: `quick` includes `new`."""

    __slots__ = ("flying", "new", "quick", "slow")

    def __init__(self, *, new: int, quick: int, slow: int) -> None:
        self.new, self.quick, self.slow = new, quick, slow
        self.flying = [0, 0, 0]

    def has_room(self, pool: int) -> bool:
        new, quick, slow = self.flying
        if pool == SLOW:
            return slow < self.slow
        return new + quick < self.quick and (pool == QUICK or new < self.new)


class Share:
    """What one agency has in flight and in hand, and its lanes that wait for a place in it."""

    __slots__ = ("held", "in_hand", "pace", "pools")

    def __init__(self) -> None:
        self.pools = Pools(new=32, quick=64, slow=128)
        self.in_hand = 0
        self.pace = 0.5
        self.held: tuple[deque[Lane], deque[Lane], deque[Lane]] = (deque(), deque(), deque())

    @property
    def enough(self) -> int:
        """How many deliveries to have in hand for endpoints that are not slow."""
        return _ahead(self.pools.quick, self.pace, _MOST_PER_AGENCY)


class Lane:
    """One endpoint's waiting and flying deliveries; `pace` is what an attempt takes there, in seconds.

    `places` is how many may fly at once: one at first, more with every answer up to eight, one after a slow failure.
    """

    __slots__ = ("agency_id", "endpoint_id", "flying", "is_queued", "pace", "places", "pool", "share", "waiting")

    def __init__(self, endpoint_id: int, agency_id: int, share: Share, *, is_known: bool) -> None:
        self.endpoint_id = endpoint_id
        self.agency_id = agency_id
        self.share = share
        self.waiting: deque[tuple[Leased, float]] = deque()
        self.flying = 0
        self.pool, self.places = (QUICK, PER_ENDPOINT) if is_known else (NEW, 1)
        self.pace = 0.5
        self.is_queued = False

    @property
    def room(self) -> int:
        """How many more to take in hand; of a slow endpoint's only what can fly."""
        most = self.places if self.pool == SLOW else _ahead(self.places, self.pace, _MOST_PER_ENDPOINT)
        return max(most - self.in_hand, 0)

    @property
    def in_hand(self) -> int:
        return len(self.waiting) + self.flying


def _ahead(places: int, pace: float, most: int) -> int:
    """How many deliveries to have in hand for so many places: two seconds' worth."""
    return max(places, min(int(places * _AHEAD_SECONDS / max(pace, 0.001)), most))


class Lanes:
    """All lanes of one courier. Only the thread of the event loop uses them."""

    def __init__(self) -> None:
        self.known: set[int] = set()  # endpoints that succeeded last
        self.pools = Pools(new=224, quick=448, slow=256)
        self.in_hand = 0
        self.suspects = 0
        self.landings = 0
        self._lanes: dict[int, Lane] = {}
        self._shares: dict[int, Share] = {}
        self._queues: tuple[deque[Lane], deque[Lane], deque[Lane]] = (deque(), deque(), deque())
        self._pool_of: dict[int, int] = {}  # of each delivery in flight
        self._active: dict[int, Lane] = {}  # with something in hand, or lately so

    @property
    def flying(self) -> int:
        return len(self._pool_of)

    def add(self, leased: Iterable[Leased]) -> None:
        """Take leased deliveries in hand."""
        now = time.monotonic()
        for row in leased:
            lane = self._lanes.get(row.endpoint_id) or self._open(row)
            lane.waiting.append((row, now))
            lane.share.in_hand += 1
            self.in_hand += 1
            self.suspects += row.is_suspect
            self._active[row.endpoint_id] = lane
            if not lane.is_queued:
                self._queue(lane)

    def _open(self, row: Leased) -> Lane:
        share = self._shares.setdefault(row.agency_id, Share())
        lane = Lane(row.endpoint_id, row.agency_id, share, is_known=row.endpoint_id in self.known)
        self._lanes[row.endpoint_id] = lane
        return lane

    def _queue(self, lane: Lane) -> None:
        if lane.waiting and lane.flying < lane.places:
            lane.is_queued = True
            self._queues[lane.pool].append(lane)

    def take(self) -> list[Leased]:
        """Give what may fly now, one of each endpoint in turn."""
        departing: list[Leased] = []
        for pool, queue in enumerate(self._queues):
            while queue and self.pools.has_room(pool):
                lane = queue.popleft()
                if lane.pool != pool:
                    self._queues[lane.pool].append(lane)
                elif not lane.share.pools.has_room(pool):
                    lane.share.held[pool].append(lane)  # stays queued: it stands in the agency's own line
                else:
                    self._depart(lane, departing)
        return departing

    def _depart(self, lane: Lane, departing: list[Leased]) -> None:
        share, pool = lane.share, lane.pool
        lane.is_queued = False
        if not lane.waiting or lane.flying >= lane.places:
            self._admit(share, pool)
            return
        row = lane.waiting.popleft()[0]
        departing.append(row)
        lane.flying += 1
        share.pools.flying[pool] += 1
        self.pools.flying[pool] += 1
        self._pool_of[row.id] = pool
        self._queue(lane)

    def _admit(self, share: Share, pool: int) -> None:
        """A place of the agency is free: the next of its lanes that wait for one may come."""
        for line in (SLOW,) if pool == SLOW else (QUICK, NEW):
            if share.held[line]:
                lane = share.held[line].popleft()
                self._queues[lane.pool].append(lane)

    def land(self, row: Leased, seconds: float, *, failed: bool) -> None:
        """Note that a flight ended after so many seconds."""
        lane = self._lanes[row.endpoint_id]
        share = lane.share
        lane.flying -= 1
        self.landings += 1
        pool = self._pool_of.pop(row.id)
        share.pools.flying[pool] -= 1
        self.pools.flying[pool] -= 1
        lane.pace = 0.8 * lane.pace + 0.2 * seconds
        is_slow = seconds >= SLOW_SECONDS
        if not is_slow:
            share.pace = 0.95 * share.pace + 0.05 * seconds
        lane.pool = SLOW if is_slow else QUICK
        lane.places = 1 if is_slow and failed else min(lane.places * 2, PER_ENDPOINT)
        self._let_go(row, share)
        self._admit(share, pool)
        if not lane.is_queued:
            self._queue(lane)

    def note_slow(self, row: Leased) -> None:
        """A flight is out for longer than a second: it gives its place back and takes one among the slow."""
        pool, lane = self._pool_of[row.id], self._lanes[row.endpoint_id]
        lane.pool = SLOW
        if pool != SLOW and self.pools.has_room(SLOW) and lane.share.pools.has_room(SLOW):
            self._pool_of[row.id] = SLOW
            for pools in (self.pools, lane.share.pools):
                pools.flying[pool] -= 1
                pools.flying[SLOW] += 1
            self._admit(lane.share, pool)

    def _let_go(self, row: Leased, share: Share) -> None:
        share.in_hand -= 1
        self.in_hand -= 1
        self.suspects -= row.is_suspect

    def drop_waiting(self, *, longer_than: float = 0.0) -> list[Leased]:
        """Give up what has waited so long in hand without departing."""
        latest = time.monotonic() - longer_than
        dropped: list[Leased] = []
        for lane in self._active.values():
            while lane.waiting and lane.waiting[0][1] <= latest:
                row = lane.waiting.popleft()[0]
                self._let_go(row, lane.share)
                dropped.append(row)
        return dropped

    def forget_idle(self) -> None:
        """Stop telling the clerk about endpoints at rest, but for slow ones, and remember no more than ten thousand."""
        self._active = {key: lane for key, lane in self._active.items() if lane.in_hand or lane.pool == SLOW}
        if len(self._lanes) > _REMEMBERED:
            self._active = {key: lane for key, lane in self._active.items() if lane.in_hand}
            queued = {key: lane for key, lane in self._lanes.items() if lane.is_queued}
            self._lanes = {**queued, **self._active}
            agencies = {lane.agency_id for lane in self._lanes.values()}
            self._shares = {key: share for key, share in self._shares.items() if key in agencies}

    def rooms(self) -> dict[int, int]:
        """How many more deliveries to lease for each endpoint that has some in hand, or had lately."""
        return {key: lane.room for key, lane in self._active.items()}

    def agencies_in_hand(self) -> tuple[list[int], list[int]]:
        """Agencies with something in hand, and those that have enough.

        What slow endpoints have in hand is counted apart, so that the others of their agency go on.
        """
        quick: Counter[int] = Counter()
        slow: Counter[int] = Counter()
        for lane in self._active.values():
            if lane.pool == SLOW:
                slow[lane.agency_id] += len(lane.waiting)
            else:
                quick[lane.agency_id] += lane.in_hand
        held = [key for key, share in self._shares.items() if share.in_hand]
        full = [key for key in held if quick[key] >= self._shares[key].enough or slow[key] >= _MOST_SLOW_WAITING]
        return held, full

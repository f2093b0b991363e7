"""Who may send now: so many in flight per endpoint, per agency and in all, and only as much in hand as gets done."""

import time
from collections import deque
from collections.abc import Iterable

from webhooks.courier.rows import Leased

IN_FLIGHT = 512
PER_AGENCY = 64
PER_ENDPOINT = 8
# Places for endpoints that have not answered within a second lately; the rest is kept for those that have.
UNPROVEN_IN_FLIGHT = 256
IN_HAND = 4_000
FIRST = 2
SLOW_SECONDS = 1.0
PATIENCE_SECONDS = 5.0
_AHEAD_SECONDS = 2.0
_MOST_PER_ENDPOINT = 512
_MOST_PER_AGENCY = 2_048
_REMEMBERED = 10_000


def _ahead(places: int, pace: float, most: int) -> int:
    """How many deliveries to have in hand for so many places: two seconds' worth."""
    return max(places, min(int(places * _AHEAD_SECONDS / max(pace, 0.001)), most))


class Share:
    """What one agency has in flight and in hand, and its lanes that wait for a place."""

    __slots__ = ("flying", "held", "in_hand", "pace")

    def __init__(self) -> None:
        self.flying = self.in_hand = 0
        self.pace = 0.5
        self.held: deque[Lane] = deque()

    @property
    def is_full(self) -> bool:
        return self.in_hand >= _ahead(PER_AGENCY, self.pace, _MOST_PER_AGENCY)


class Lane:
    """One endpoint's waiting and flying deliveries; `pace` is what an attempt takes there, in seconds.

    `places` is how many may fly at once: few at first, more with every answer up to eight, one after a slow failure.
    An endpoint is proven once it has answered within a second, and for as long as it does.
    """

    __slots__ = ("agency_id", "endpoint_id", "flying", "is_proven", "is_queued", "pace", "places", "share", "waiting")

    def __init__(self, endpoint_id: int, agency_id: int, share: Share) -> None:
        self.endpoint_id = endpoint_id
        self.agency_id = agency_id
        self.share = share
        self.waiting: deque[tuple[Leased, float]] = deque()
        self.flying = 0
        self.places = FIRST
        self.pace = 0.5
        self.is_proven = self.is_queued = False

    @property
    def room(self) -> int:
        """How many more to take in hand."""
        return max(_ahead(self.places, self.pace, _MOST_PER_ENDPOINT) - len(self.waiting) - self.flying, 0)


class Lanes:
    """All lanes of one courier. Only the thread of the event loop uses them."""

    def __init__(self) -> None:
        self._lanes: dict[int, Lane] = {}
        self._shares: dict[int, Share] = {}
        self._ready: deque[Lane] = deque()
        self._unproven: deque[Lane] = deque()
        self._active: dict[int, Lane] = {}  # with something in hand, or lately so
        self.unproven_flying = 0
        self.flying = 0
        self.in_hand = 0
        self.suspects = 0
        self.landings = 0

    def add(self, leased: Iterable[Leased]) -> None:
        """Take leased deliveries in hand."""
        now = time.monotonic()
        for row in leased:
            lane = self._lanes.get(row.endpoint_id) or self._open(row.endpoint_id, row.agency_id)
            lane.waiting.append((row, now))
            lane.share.in_hand += 1
            self.in_hand += 1
            self.suspects += row.is_suspect
            self._active[row.endpoint_id] = lane
            if not lane.is_queued:
                self._queue(lane)

    def _open(self, endpoint_id: int, agency_id: int) -> Lane:
        share = self._shares.setdefault(agency_id, Share())
        lane = self._lanes[endpoint_id] = Lane(endpoint_id, agency_id, share)
        return lane

    def _queue(self, lane: Lane) -> None:
        if lane.waiting and lane.flying < lane.places:
            lane.is_queued = True
            (self._ready if lane.is_proven else self._unproven).append(lane)

    def take(self) -> list[Leased]:
        """Give what may fly now, one of each endpoint in turn; unproven endpoints have places of their own."""
        departing: list[Leased] = []
        while self._unproven and self.unproven_flying < UNPROVEN_IN_FLIGHT and self.flying < IN_FLIGHT:
            self._depart(self._unproven.popleft(), departing)
        while self._ready and self.flying < IN_FLIGHT:
            self._depart(self._ready.popleft(), departing)
        return departing

    def _depart(self, lane: Lane, departing: list[Leased]) -> None:
        share = lane.share
        if share.flying >= PER_AGENCY:
            share.held.append(lane)  # stays queued: it stands in the agency's own line
            return
        lane.is_queued = False
        if not lane.waiting or lane.flying >= lane.places:
            self._admit(share)
            return
        departing.append(lane.waiting.popleft()[0])
        lane.flying += 1
        share.flying += 1
        self.flying += 1
        if not lane.is_proven:
            self.unproven_flying += 1
        self._queue(lane)

    def land(self, row: Leased, seconds: float, *, failed: bool) -> None:
        """Note that a flight ended after so many seconds."""
        lane = self._lanes[row.endpoint_id]
        share = lane.share
        lane.flying -= 1
        share.flying -= 1
        self.flying -= 1
        self.landings += 1
        if not lane.is_proven:
            self.unproven_flying -= 1
        lane.pace = 0.8 * lane.pace + 0.2 * seconds
        share.pace = 0.95 * share.pace + 0.05 * seconds
        is_slow = seconds >= SLOW_SECONDS
        lane.places = 1 if is_slow and failed else min(lane.places * 2, PER_ENDPOINT)
        self._prove(lane, not is_slow)
        self._let_go(row, share)
        self._admit(share)
        if not lane.is_queued:
            self._queue(lane)

    def _admit(self, share: Share) -> None:
        """A place of the agency is free: the next of its lanes that wait for one may come."""
        if share.held:
            lane = share.held.popleft()
            (self._ready if lane.is_proven else self._unproven).append(lane)

    def note_slow(self, row: Leased) -> None:
        """A flight has been out for longer than a proven endpoint takes."""
        self._prove(self._lanes[row.endpoint_id], False)

    def _prove(self, lane: Lane, is_proven: bool) -> None:
        if lane.is_proven != is_proven:
            lane.is_proven = is_proven
            self.unproven_flying += -lane.flying if is_proven else lane.flying

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
        """Stop telling the clerk about endpoints with nothing in hand, and about most of them remember nothing."""
        self._active = {key: lane for key, lane in self._active.items() if lane.waiting or lane.flying}
        if len(self._lanes) > _REMEMBERED:
            queued = {key: lane for key, lane in self._lanes.items() if lane.is_queued}
            self._lanes = {**queued, **self._active}
            agencies = {lane.agency_id for lane in self._lanes.values()}
            self._shares = {key: share for key, share in self._shares.items() if key in agencies}

    def rooms(self) -> dict[int, int]:
        """How many more deliveries to lease for each endpoint that has some in hand, or had lately."""
        return {key: lane.room for key, lane in self._active.items()}

    def agencies_in_hand(self) -> tuple[list[int], list[int]]:
        """Agencies with something in hand, and those of them that have enough."""
        held = [key for key, share in self._shares.items() if share.in_hand]
        return held, [key for key in held if self._shares[key].is_full]

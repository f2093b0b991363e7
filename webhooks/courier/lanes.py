"""Who may send now: at most so many in flight per endpoint and per agency, and only as much in hand as gets done."""

import time
from collections import deque
from dataclasses import dataclass, field

from webhooks.courier.rows import LEASE_SECONDS, Leased

IN_FLIGHT = 256
PER_ENDPOINT = 8
PER_AGENCY = 64
IN_HAND = 4_000
IN_HAND_PER_ENDPOINT = 512
IN_HAND_SECONDS = 2.0
LONGEST_ATTEMPT = 10.5
REMEMBERED_LANES = 10_000


@dataclass(slots=True)
class Lane:
    """One endpoint's waiting and flying deliveries; `pace` is what an attempt takes there, in seconds."""

    endpoint_id: int
    agency_id: int
    waiting: deque[tuple[Leased, float]] = field(default_factory=deque)
    flying: int = 0
    pace: float = 0.5
    queued: bool = False

    @property
    def room(self) -> int:
        """How many more to take in hand: what this endpoint gets done in two seconds, at least its flights."""
        soon = int(PER_ENDPOINT * IN_HAND_SECONDS / max(self.pace, 0.001))
        return max(max(PER_ENDPOINT, min(soon, IN_HAND_PER_ENDPOINT)) - len(self.waiting) - self.flying, 0)

    @property
    def at_rest(self) -> bool:
        return not self.waiting and not self.flying


@dataclass(slots=True)
class Share:
    """What one agency has in flight, and its lanes that wait for a place."""

    flying: int = 0
    held: deque[Lane] = field(default_factory=deque)


class Lanes:
    """All lanes of one courier. Only the thread of the event loop uses them."""

    def __init__(self) -> None:
        self._lanes: dict[int, Lane] = {}
        self._shares: dict[int, Share] = {}
        self._ready: deque[Lane] = deque()
        self.flying = 0
        self.in_hand = 0

    def add(self, leased: list[Leased]) -> None:
        """Take leased deliveries in hand."""
        now = time.monotonic()
        for row in leased:
            lane = self._lanes.get(row.endpoint_id)
            if lane is None:
                lane = self._lanes[row.endpoint_id] = Lane(row.endpoint_id, row.agency_id)
                self._shares.setdefault(row.agency_id, Share())
            lane.waiting.append((row, now))
            self._queue(lane)
        self.in_hand += len(leased)

    def _queue(self, lane: Lane) -> None:
        if not lane.queued and lane.waiting and lane.flying < PER_ENDPOINT:
            lane.queued = True
            self._ready.append(lane)

    def take(self) -> list[Leased]:
        """Give what may fly now, one of each endpoint in turn."""
        departing: list[Leased] = []
        while self._ready and self.flying < IN_FLIGHT:
            lane = self._ready.popleft()
            share = self._shares[lane.agency_id]
            if share.flying >= PER_AGENCY:
                share.held.append(lane)  # stays queued: it stands in the agency's own line
                continue
            lane.queued = False
            if lane.waiting:
                departing.append(self._depart(lane, share))
                self._queue(lane)
        return departing

    def _depart(self, lane: Lane, share: Share) -> Leased:
        row, _ = lane.waiting.popleft()
        lane.flying += 1
        share.flying += 1
        self.flying += 1
        return row

    def land(self, row: Leased, seconds: float) -> None:
        """Note that a flight ended after so many seconds."""
        lane, share = self._lanes[row.endpoint_id], self._shares[row.agency_id]
        lane.flying -= 1
        lane.pace = 0.8 * lane.pace + 0.2 * seconds
        share.flying -= 1
        self.flying -= 1
        self.in_hand -= 1
        if share.held:
            self._ready.append(share.held.popleft())
        self._queue(lane)

    def drop_late(self) -> list[Leased]:
        """Give up what was held so long that its lease would not last for an attempt."""
        last_start = time.monotonic() - (LEASE_SECONDS - LONGEST_ATTEMPT)
        late: list[Leased] = []
        for lane in self._lanes.values():
            while lane.waiting and lane.waiting[0][1] < last_start:
                late.append(lane.waiting.popleft()[0])
        self.in_hand -= len(late)
        return late

    def drop_all(self) -> list[Leased]:
        """Give up everything that has not departed."""
        waiting = [row for lane in self._lanes.values() for row, _ in lane.waiting]
        for lane in self._lanes.values():
            lane.waiting.clear()
        self.in_hand -= len(waiting)
        return waiting

    def room(self) -> dict[int, int]:
        """How many more deliveries to lease for each endpoint that is known here."""
        if len(self._lanes) > REMEMBERED_LANES:
            self._lanes = {key: lane for key, lane in self._lanes.items() if not lane.at_rest or lane.queued}
        return {key: lane.room for key, lane in self._lanes.items()}

    def full_agencies(self) -> list[int]:
        """Agencies that have their whole share in flight."""
        return [agency for agency, share in self._shares.items() if share.flying >= PER_AGENCY]

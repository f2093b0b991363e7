"""The load on the system: events are recorded, delivered, and counted at the end."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import Error, connection, transaction
from django.utils import timezone

from agency.actors import SYSTEM
from agency.models import Agency
from agency.services import create_agency, write_event
from agency.tenants import Tenant
from tests.chaos.receiver import CountingReceiver
from tests.chaos.system import System, rest
from webhooks.models import Endpoint
from webhooks.services.endpoints import new_secret

AGENCIES, ENDPOINTS = 5, 4
LONGEST_PAUSE_SECONDS = 25.0
# Without an arrival for so long, what is left counts as lost.
PATIENCE_SECONDS = 45.0
ON_THE_WIRE_SECONDS = 0.3
MANY = """
INSERT INTO agency_event (uuid, agency_id, name, occurred_at, body)
SELECT made.uuid, (%(agencies)s::bigint[])[1 + n %% %(spread)s], 'chaos.' || n / %(spread)s %% %(endpoints)s, now(),
    convert_to('{"id":"' || made.uuid || '"}', 'UTF8')
FROM (SELECT gen_random_uuid() AS uuid, n FROM generate_series(0, %(count)s - 1) n) AS made
"""
# No joins: these tables grow faster than their statistics follow, and a plan for small ones takes minutes.
RECORDED = "SELECT uuid::text FROM agency_event WHERE agency_id = ANY (%(ours)s)"
DELIVERED = "SELECT envelope_id::text FROM webhooks_delivery WHERE agency_id = ANY (%(ours)s) AND status = 'success'"
COUNTED = "SELECT id, attempts FROM webhooks_delivery WHERE agency_id = ANY (%(ours)s) AND attempts > 0"
LOGGED = "SELECT delivery_id, count(*) FROM webhooks_attempt GROUP BY delivery_id"
LEFT = "SELECT delivery_id FROM webhooks_queueddelivery WHERE agency_id = ANY (%(ours)s)"


@dataclass
class Outcome:
    """What came of a scenario.

    `inexcusable` is the number of arrivals for which no fault is an excuse; `wrong` of rows that contradict each
    other or are left over, and of envelopes that belong to no event.
    """

    deliveries: int
    lost: int
    duplicates: int
    allowed: int
    inexcusable: int
    wrong: int
    pause: float
    notes: list[str]
    faults: list[str]

    @property
    def holds(self) -> bool:
        is_right = not (self.lost or self.inexcusable or self.wrong or self.faults)
        return is_right and self.pause <= LONGEST_PAUSE_SECONDS

    def __str__(self) -> str:
        parts = [
            f"{self.deliveries:,} deliveries",
            f"{self.lost} lost",
            f"{self.duplicates} duplicates ({self.allowed} allowed, {self.inexcusable} others)",
            f"longest pause {self.pause:.1f} s",
            *([f"{self.wrong} rows wrong"] if self.wrong else []),
            *self.notes,
            *self.faults,
        ]
        return ", ".join(parts)


@dataclass
class Workload:
    """One scenario's agencies, endpoints and events; each event goes to one endpoint.

    `excused` is how many arrivals of an envelope may be followed by one more each: they came before a fault, and
    were not written down when it happened.
    """

    system: System
    receiver: CountingReceiver
    agencies: list[int] = field(default_factory=list)
    excused: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        mark = uuid.uuid4().hex[:8]
        agencies = [create_agency(name=f"Agency {mark} {number}", by=SYSTEM) for number in range(AGENCIES)]
        self.agencies = [agency.pk for agency in agencies]
        for agency in agencies:
            self._subscribe(agency)

    def _subscribe(self, agency: Agency) -> None:
        url = f"http://127.0.0.1:{self.receiver.port}/%d"
        Endpoint.objects.bulk_create(
            Endpoint(agency=agency, url=url % number, events=[f"chaos.{number}"], secret=new_secret())
            for number in range(ENDPOINTS)
        )

    def record_many(self, count: int) -> None:
        """Record so many events in one statement."""
        values: dict[str, Any] = {
            "agencies": self.agencies,
            "spread": AGENCIES,
            "endpoints": ENDPOINTS,
            "count": count,
        }
        with connection.cursor() as cursor:
            cursor.execute(MANY, values)

    def trickle(self, seconds: float, *, rate: int = 100) -> None:
        """Record events one by one, as the product does; what the database refuses did not happen."""
        started = time.monotonic()
        for number in range(int(seconds * rate)):
            time.sleep(max(0.0, started + number / rate - time.monotonic()))
            self.system.look_after()
            name, agency = f"chaos.{number % ENDPOINTS}", self.agencies[number % AGENCIES]
            try:
                with transaction.atomic():
                    write_event(tenant=Tenant(agency), name=name, data={"n": number}, now=timezone.now())
            except Error:
                connection.close()

    def rest(self, seconds: float) -> None:
        rest(self.system, seconds)

    def undelivered(self) -> set[str]:
        """The envelopes that are not delivered and recorded yet."""
        return self._recorded() - {row[0] for row in self._read(DELIVERED)}

    @contextmanager
    def excusing(self) -> Iterator[None]:
        """Excuse what had arrived when a fault began and is not written down when it is over."""
        time.sleep(ON_THE_WIRE_SECONDS)
        arrived = self.receiver.times.copy()
        yield
        connection.close()
        self.excused |= {envelope: arrived[envelope] for envelope in self.undelivered() if envelope in arrived}

    def excuse(self) -> None:
        """Excuse what has arrived and is not written down now."""
        with self.excusing():
            pass

    def goes_on(self) -> bool:
        """Wait for the next arrival; False when everything is delivered, or nothing comes any more."""
        seen, since = len(self.receiver.moments), time.monotonic()
        while len(self.receiver.moments) == seen:
            if not self.undelivered() or time.monotonic() - since > PATIENCE_SECONDS:
                return False
            self.rest(0.1)
        return True

    def wait(self) -> None:
        """Wait for the last delivery."""
        while self.goes_on():
            self.rest(0.2)
        self.rest(1)

    def count(self) -> Outcome:
        """Hold what arrived against what was recorded."""
        recorded = self._recorded()
        times = self.receiver.times.copy()
        more = {envelope: count - 1 for envelope, count in times.items() if count > 1}
        return Outcome(
            deliveries=len(recorded),
            lost=len((recorded - times.keys()) | self.undelivered()),
            duplicates=sum(more.values()),
            allowed=sum(self.excused.values()),
            inexcusable=sum(max(0, count - self.excused.get(envelope, 0)) for envelope, count in more.items()),
            wrong=self._contradictions() + len(self._read(LEFT)) + len(times.keys() - recorded),
            pause=self.receiver.longest_pause,
            notes=self.notes,
            faults=self.faults,
        )

    def _recorded(self) -> set[str]:
        return {row[0] for row in self._read(RECORDED)}

    def _contradictions(self) -> int:
        """Deliveries that count other attempts than are logged."""
        logged = dict(self._read(LOGGED))
        return sum(logged.get(delivery) != attempts for delivery, attempts in self._read(COUNTED))

    def _read(self, statement: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(statement, {"ours": self.agencies})
            found: list[tuple[Any, ...]] = cursor.fetchall()
        return found

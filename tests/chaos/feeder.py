"""Volume beside the clients' calls: events of agencies and workspaces, recorded by the hundred."""

import time
import uuid
from collections.abc import Callable
from itertools import cycle, islice

from django.db import Error, connection, transaction
from django.utils import timezone

from agency.models import Event
from agency.services.events import DISPATCHER, envelope
from agency.tenants import Tenant
from config.celery import wake_up
from tests.chaos.expectations import Expectations, Key, Subscriber


class Feeder:
    """Records `rate` events a second, `most` in all; its commits are what it was told."""

    def __init__(
        self, expectations: Expectations, pairs: list[tuple[Tenant, Subscriber]], *, rate: float, most: int
    ) -> None:
        self.rate = rate
        self.most = most
        self.recorded = 0
        self._expectations = expectations
        self._pairs = cycle(pairs)
        self._fed_at = time.monotonic()

    @property
    def is_at_an_end(self) -> bool:
        return self.recorded >= self.most

    def feed(self, can_write: Callable[[], bool]) -> None:
        """Record what has become due since the last time."""
        now = time.monotonic()
        due = min(int((now - self._fed_at) * self.rate), int(2 * self.rate), self.most - self.recorded)
        if due > 0:
            self._fed_at = now
            if can_write():
                self.record(due)

    def record(self, count: int) -> None:
        """Record so many events in one transaction; a commit without an answer may have happened."""
        rows, asked = [], []
        for tenant, subscriber in islice(self._pairs, count):
            identity, now, [event] = uuid.uuid4(), timezone.now(), subscriber.events
            asked.append(self._expectations.ask(Key(event, str(identity)), subscriber.owner))
            rows.append(
                Event(
                    uuid=identity,
                    agency_id=tenant.agency_id,
                    workspace_id=tenant.workspace_id,
                    workspace_uuid=tenant.workspace_uuid,
                    name=event,
                    occurred_at=now,
                    body=envelope(id=identity, event=event, occurred_at=now, tenant=tenant, data={"volume": True}),
                )
            )
        was_sent = False
        try:
            with transaction.atomic():
                Event.objects.bulk_create(rows)
                wake_up(DISPATCHER)
                was_sent = True
        except Error:
            connection.close()
            if not was_sent:
                self._expectations.forget(asked)
        else:
            self._expectations.tell(asked)
            self.recorded += count

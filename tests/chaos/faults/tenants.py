"""One agency that has very much: endpoints by the thousand and events by the hundred."""

import uuid

from django.utils import timezone

from agency.actors import SYSTEM
from agency.models import Event
from agency.services import create_agency
from agency.services.events import envelope
from agency.tenants import Tenant
from tests.chaos.receiver.sink import Sink
from tests.chaos.workload import Workload
from webhooks.models import Endpoint
from webhooks.services.endpoints import new_secret

EVENT = "chaos.poison"


def poison(workload: Workload, sink: Sink, *, endpoints: int, events: int) -> None:
    """Record events of an agency whose every endpoint wants every one of them."""
    if not workload.has_traffic():
        return
    agency = create_agency(name=f"Agency {uuid.uuid4().hex[:8]}", by=SYSTEM)
    url, secret = f"http://127.0.0.1:{sink.port}/%d", new_secret()
    Endpoint.objects.bulk_create(
        Endpoint(agency=agency, url=url % number, events=[EVENT], secret=secret) for number in range(endpoints)
    )
    now, tenant = timezone.now(), Tenant(agency.pk)
    rows = []
    for _ in range(events):
        identity = uuid.uuid4()
        body = envelope(id=identity, event=EVENT, occurred_at=now, tenant=tenant, data={})
        rows.append(Event(uuid=identity, agency=agency, name=EVENT, occurred_at=now, body=body))
    workload.injections.count("poisoned fan-out", happened=len(Event.objects.bulk_create(rows)) == events)

"""Steps of the delivery tests: subscribe, record events, wait, look at the log."""

from collections.abc import Iterable
from typing import Any

from django.db import connection, transaction
from django.utils.timezone import now

from agency import tenants
from agency.event_types import event_type
from agency.services import record_event
from config.leases.connections import Connection
from config.leases.runs import SHARDS, OwnedShards
from config.metrics import Gauge
from tests.config.http import receivers
from tests.config.http.receivers import Behaviour, Receiver
from tests.tenants import Tenant
from tests.waiting import until
from webhooks.dispatcher.fan_out import FanOut
from webhooks.hooks import WEBHOOK_METRICS
from webhooks.models import Delivery, QueuedDelivery

EVENT = "workspace.created"


def subscribe(tenant: Tenant, receiver: Receiver, *events: str, **fields: Any) -> dict[str, Any]:
    """Register the receiver over the API; gives the endpoint with its secret."""
    url = f"http://127.0.0.1:{receiver.port}/hooks"
    response = tenant.api.post("/webhooks", {"url": url, "events": list(events) or [EVENT], **fields})
    assert response.status_code == 201, response.content
    endpoint: dict[str, Any] = response.json()["data"]
    return endpoint


def record_events(tenant: Tenant, count: int = 1, *, event: str = EVENT, customer: str = "Sub-account") -> None:
    """Record so many events of the agency, about a sub-account of this name."""
    sample = event_type(event).sample_data()
    data = {**sample, "workspace": {**sample["workspace"], "name": customer}}
    with transaction.atomic():
        for _ in range(count):
            record_event(tenant=tenants.Tenant(tenant.agency.pk), name=event, data=data, now=now())


def ended(tenant: Tenant, count: int = 1) -> list[Delivery]:
    """Wait until so many deliveries of the agency have ended, and give them, oldest first."""
    rows = Delivery.objects.filter(agency=tenant.agency).exclude(status="pending").order_by("id")
    return until(lambda: list(rows) if rows.count() >= count else None, what=f"{count} deliveries that have ended")


def attempted(tenant: Tenant, times: int) -> Delivery:
    """Wait until the agency's one delivery has been attempted so often, and give it."""
    rows = Delivery.objects.select_related("queued").filter(agency=tenant.agency, attempts=times)
    return until(rows.first, what=f"attempt {times}")


def make_due(delivery: Delivery) -> None:
    """Move a waiting attempt's time to now; the dispatcher sees it in its next sweep."""
    assert QueuedDelivery.objects.filter(delivery=delivery, is_ready=False).update(due_at=now())


def measured(name: str) -> float:
    """Read a gauge of deliveries as the exporter does."""
    [read] = [metric.read for metric in WEBHOOK_METRICS if isinstance(metric, Gauge) and metric.name == name]
    value = read() if read else None
    assert isinstance(value, int | float)
    return float(value)


def make_deliveries(connection: Connection) -> None:
    """Make the deliveries of all events, as a dispatcher that is alone would."""
    shards = OwnedShards(run=0, shards="webhooks_endpointshard", runs="webhooks_dispatcherrun")
    shards.held = frozenset(range(SHARDS))
    fan_out = FanOut(0, shards, lambda: None)
    fan_out.tenants.rescan(connection)
    while fan_out.fan_out(connection):
        pass


def read_delivery(tenant: Tenant, delivery: Delivery) -> dict[str, Any]:
    """The delivery with its attempts as the API shows it."""
    response = tenant.api.get(f"/webhooks/deliveries/{delivery.uuid}")
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()["data"]
    return found


def status(code: int, body: bytes = b"", *fields: bytes) -> bytes:
    """An answer of the receiver."""
    head = [b"HTTP/1.1 %d Reason" % code, b"Content-Length: %d" % len(body), *fields]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def in_turn(answers: Iterable[bytes]) -> Behaviour:
    """Answer each request with the next of these, over however many connections they come."""
    left = iter(answers)

    def behave(connection: receivers.Connection) -> None:
        while (request := connection.read_request()) is not None:
            connection.receiver.requests.append(request)
            connection.send(next(left))

    return behave


def slowly(seconds: float, data: bytes = b"HTTP/1.1 204 No Content\r\n\r\n") -> Behaviour:
    """Answer each request after so long."""

    def behave(connection: receivers.Connection) -> None:
        while (request := connection.read_request()) is not None:
            connection.receiver.requests.append(request)
            if connection.receiver.closing.wait(seconds):
                return
            connection.send(data)

    return behave


def wait_for_connections(which: str, number: int) -> None:
    """Wait until the dispatcher has so many sessions at the database: each of its threads begins its own."""
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE %s AND datname = current_database()"

    def are_there() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(sessions, [which])
            return bool(cursor.fetchone()[0] >= number)

    until(are_there, what=f"{number} sessions of {which}")


def cut_connections(which: str) -> int:
    """End the dispatcher's sessions at the database, as a restart does."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE application_name LIKE %s AND datname = current_database()",
            [which],
        )
        found: int = cursor.fetchone()[0]
    return found

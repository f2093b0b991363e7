"""Endpoints and deliveries for the tests."""

from typing import Any

from django.utils.timezone import now

from agency import tenants
from agency.actors import SYSTEM
from tests.tenants import Tenant
from webhooks.models import Attempt, Delivery, Endpoint
from webhooks.services.deliveries import sample_envelope
from webhooks.services.endpoints import register_endpoint

EVENT = "workspace.created"


def an_endpoint(tenant: Tenant, **changes: Any) -> Endpoint:
    """An endpoint at an address of this machine, which the test settings let pass."""
    fields = {"url": "http://127.0.0.1:9009/hooks", "events": [EVENT], **changes}
    return register_endpoint(tenant=tenants.Tenant(tenant.agency.pk), by=SYSTEM, **fields)


def a_failed_delivery(tenant: Tenant, endpoint: Endpoint | None = None, **changes: Any) -> Delivery:
    """A delivery whose only attempt was answered 500."""
    endpoint = endpoint or an_endpoint(tenant)
    envelope = sample_envelope(EVENT)
    fields: dict[str, Any] = {
        "status": "error",
        "attempts": 1,
        "response_status": 500,
        "error": "http_5xx",
        "completed_at": now(),
        **changes,
    }
    delivery = Delivery.objects.create(
        agency=tenant.agency,
        endpoint=endpoint,
        event_name=EVENT,
        envelope_id="5b0b1a52-6d4c-4f0e-8f5e-7c1f6f1f2a10",
        body=envelope,
        failed_at=fields["completed_at"],
        **fields,
    )
    Attempt.objects.create(
        delivery=delivery,
        number=1,
        started_at=now(),
        duration_ms=12.5,
        url=endpoint.url,
        signature=bytes(72),
        response_status=500,
        response_headers="HTTP/1.1 500 Internal Server Error",
        response_body=b"<script>alert(1)</script>\x00\xff",
        error="http_5xx",
    )
    return delivery

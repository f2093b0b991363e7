"""The worker of both designs: `celery -A benchmarks.celery_tasks.worker worker`, with the `settings` in this folder."""

import time
from datetime import UTC, datetime

import requests
from celery import Celery
from django.conf import settings

from benchmarks.celery_tasks.names import KEPT, PLAIN

app = Celery("celery_tasks", broker=settings.CELERY_BROKER_URL)
app.conf.task_ignore_result = True
app.set_default()
app.autodiscover_tasks(["django_webhook"])
kept = requests.Session()


@app.task(name=KEPT)
def deliver_over_kept_connection(identity: int) -> None:
    """Deliver over a kept connection."""
    _deliver(kept, identity)


@app.task(name=PLAIN)
def deliver(identity: int) -> None:
    """Deliver as `requests.post` does, with a new connection for each delivery."""
    with requests.Session() as session:
        _deliver(session, identity)


def _deliver(session: requests.Session, identity: int) -> None:
    """Read the row, sign, post, and save an attempt and the row's outcome."""
    from webhooks.models import Attempt, Delivery
    from webhooks.signing import Signer, headers  # import only after Django's setup

    delivery = Delivery.objects.select_related("endpoint", "event").get(pk=identity)
    body, started_at = delivery.envelope, time.time()
    signer, envelope_id = Signer(delivery.endpoint.secret or ""), str(delivery.envelope_id)
    signature = signer.sign(envelope_id=envelope_id, timestamp=int(started_at), body=body)
    request_headers = dict(headers(event=delivery.event_name, envelope_id=envelope_id, signature=signature))
    answer = session.post(delivery.endpoint.url, data=body, headers=request_headers, timeout=10, allow_redirects=False)
    Attempt.objects.create(
        delivery=delivery,
        number=1,
        started_at=datetime.fromtimestamp(started_at, UTC),
        duration_ms=(time.time() - started_at) * 1000,
        url=delivery.endpoint.url,
        response_status=answer.status_code,
    )
    Delivery.objects.filter(pk=identity).update(
        attempts=1, response_status=answer.status_code, status="success", completed_at=datetime.now(UTC)
    )

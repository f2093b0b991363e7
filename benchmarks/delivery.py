"""How fast the courier is: deliveries a second from their rows, against its two ceilings and the usual design."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from statistics import median
from typing import Any
from unittest.mock import patch

import requests
from django.conf import settings
from django.db import connection

from agency.models import Agency
from benchmarks.figures import Figure
from benchmarks.processes import Broken, started
from benchmarks.rounds import interleave, median_ratio
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from webhooks.courier import rows, shift
from webhooks.courier.database import open_connection
from webhooks.letters import headers, sign, signer
from webhooks.models import Attempt, Delivery, Endpoint
from webhooks.services.endpoints import new_secret
from webhooks.transport.client import Sender
from webhooks.transport.exchange import Request, Result
from webhooks.transport.guard import judge_at_sight
from webhooks.transport.targets import parse_target

TITLE = (
    "Deliveries: microseconds for each of 600 bytes, signed, every attempt recorded, one courier process, a receiver\n"
    "that answers at once, PostgreSQL on the same cores. Ratios are to the courier; its ceilings are the bare client\n"
    "loop and the same pipeline with the sending left out. The usual design: a request and an ORM update after the\n"
    "other, per delivery, over a kept connection, without what a task of Celery's costs on top."
)
DELIVERIES, USUAL = 6_000, 400
ENDPOINTS = (20, 1_000)
IN_FLIGHT = 128
ROUNDS = 5
BODY = b'{"id":"' + b"x" * 592
PATIENCE_SECONDS = 120.0
# 70 % of the lower ceiling: the courier may take 1 / 0.7 of the slower one's time.
MOST_OF_CEILING = 1 / 0.7
LEAST_OF_USUAL = 15
EVENT = "workspace.created"


class NoSending:
    """Stands in the sender's place and says of every request at once that it was answered."""

    def __init__(self, **_: Any) -> None:
        self._asked: list[Request] = []
        self._woken = threading.Event()

    def submit(self, request: Request) -> None:
        self._asked.append(request)

    def wake(self) -> None:
        self._woken.set()

    def poll(self, timeout_s: float) -> list[Result]:
        if not self._asked:
            self._woken.wait(timeout_s)
            self._woken.clear()
        asked, self._asked, now = self._asked, [], time.time()
        head = b"HTTP/1.1 204 No Content\r\nServer: bench\r\n\r\n"
        return [
            Result(one.key, 204, None, now, 0.0, None, None, 0.2, 0.3, "127.0.0.1", True, False, head, b"")
            for one in asked
        ]

    def close(self) -> None:
        self._asked.clear()


def run(_: Bench) -> list[Figure]:
    agency = agency_with(1)[0]
    with _receiver() as port:
        variants: dict[str, Callable[[], float]] = {
            "bare": partial(_bare, port),
            "no sending": partial(_courier, agency, port, ENDPOINTS[0], NoSending),
            "usual": partial(_usual, agency, port),
        }
        for number in ENDPOINTS:
            variants[f"courier {number}"] = partial(_courier, agency, port, number, Sender)
        found = interleave(variants, rounds=ROUNDS)
    base = found[f"courier {ENDPOINTS[0]}"]
    return [*_figures(found, base), *_verdicts(found, base)]


def _figures(found: dict[str, list[float]], base: list[float]) -> list[Figure]:
    names = {
        "bare": "the client's bare loop",
        "no sending": "the courier, sending left out",
        "usual": "the usual design",
        **{f"courier {number}": f"the courier, {number:,} endpoints" for number in ENDPOINTS},
    }
    return [
        Figure(name=words, measured=median(found[name]), unit="µs", ratio=median_ratio(found[name], base))
        for name, words in names.items()
    ]


def _verdicts(found: dict[str, list[float]], base: list[float]) -> Iterator[Figure]:
    lower = [max(bare, rest) for bare, rest in zip(found["bare"], found["no sending"], strict=True)]
    yield Figure(
        name="courier / its lower ceiling", measured=median_ratio(base, lower), unit="x", at_most=MOST_OF_CEILING
    )
    yield Figure(
        name="courier / usual design",
        measured=median_ratio(base, found["usual"]),
        unit="x",
        at_most=1 / LEAST_OF_USUAL,
        note=f"{median_ratio(found['usual'], base):.0f} times as fast",
    )


@contextmanager
def _receiver() -> Iterator[int]:
    with started("benchmarks.fast_receiver", quiet=False) as process:
        if process.stdout is None:
            raise Broken("The receiver has no output.")
        yield int(process.stdout.readline())
        process.stdout.close()


def _prepare(agency: Agency, port: int, endpoints: int, deliveries: int) -> None:
    """Put as many deliveries in the queue, each endpoint its share."""
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE webhooks_delivery, webhooks_errand, webhooks_attempt, webhooks_endpoint, webhooks_tally, "
            "webhooks_shift, agency_event CASCADE"
        )
        Endpoint.objects.bulk_create(
            Endpoint(agency=agency, url=f"http://127.0.0.1:{port}/{number}", events=[f"e{number}"], secret=new_secret())
            for number in range(endpoints)
        )
        cursor.execute("UPDATE webhooks_endpoint SET edited_at = now() - interval '1 day'")
        cursor.execute(
            "INSERT INTO agency_event (uuid, agency_id, name, occurred_at, body) "
            "SELECT gen_random_uuid(), %s, 'e' || (number %% %s), now(), %s FROM generate_series(1, %s) number",
            [agency.pk, endpoints, BODY, deliveries],
        )
    filling = open_connection("bench")
    while rows.fan_out(filling, batch=2_000):
        pass
    filling.execute("VACUUM ANALYZE webhooks_delivery, webhooks_errand, agency_event")
    filling.execute("CHECKPOINT")
    filling.close()


def _courier(agency: Agency, port: int, endpoints: int, sender: type[Any]) -> float:
    """Let a courier work until all are recorded; gives microseconds for each delivery."""
    _prepare(agency, port, endpoints, DELIVERIES)
    with patch.object(shift, "Sender", sender):  # what the courier sends with is what is varied
        courier = shift.Courier()
    began, ended = time.perf_counter(), 0.0

    def is_over() -> bool:
        nonlocal ended
        if courier.sent >= DELIVERIES and not courier.recorder.backlog:
            ended = ended or time.perf_counter()
        return bool(ended) or time.perf_counter() - began > PATIENCE_SECONDS

    courier.run(should_stop=is_over)
    if not ended or Delivery.objects.filter(status="success").count() < DELIVERIES:
        raise Broken("The courier did not deliver everything.")
    return (ended - began) / DELIVERIES * 1e6


def _bare(port: int) -> float:
    """Send and sign as many with the client alone, nothing read from or written to the database."""
    sender, one = Sender(), signer(new_secret())
    targets = [
        judge_at_sight(parse_target(f"http://127.0.0.1:{port}/{number}"), allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
        for number in range(ENDPOINTS[0])
    ]
    begun = done = 0
    began = time.perf_counter()
    while done < DELIVERIES:
        while sender.in_flight < IN_FLIGHT and begun < DELIVERIES:
            vetted = targets[begun % len(targets)]
            if vetted is None:
                raise Broken("The receiver's address was refused.")
            signature = sign(signer=one, body=BODY)
            words = headers(event=EVENT, envelope_id="6ffab1ba-6168-4bb4-a91c-5b15385dcb04", signature=signature)
            sender.submit(Request(begun, vetted, words, BODY))
            begun += 1
        done += len(sender.poll(1))
    took = time.perf_counter() - began
    sender.close()
    return took / DELIVERIES * 1e6


def _usual(agency: Agency, port: int) -> float:
    """One delivery after the other: read the row, sign, `requests.post`, save an attempt and the row."""
    _prepare(agency, port, ENDPOINTS[0], USUAL)
    identities = list(Delivery.objects.values_list("pk", flat=True))
    began = time.perf_counter()
    with requests.Session() as session:
        for identity in identities:
            _deliver_one(session, identity)
    return (time.perf_counter() - began) / USUAL * 1e6


def _deliver_one(session: requests.Session, identity: int) -> None:
    delivery = Delivery.objects.select_related("endpoint", "event").get(pk=identity)
    body, started_at = delivery.envelope, time.time()
    signature = sign(signer=signer(delivery.endpoint.secret or ""), body=body)
    words = dict(headers(event=EVENT, envelope_id=str(delivery.envelope_id), signature=signature))
    answer = session.post(delivery.endpoint.url, data=body, headers=words, timeout=10, allow_redirects=False)
    took = (time.time() - started_at) * 1000
    Attempt.objects.create(
        delivery=delivery,
        number=1,
        started_at=datetime.fromtimestamp(started_at, UTC),
        duration_ms=took,
        url=delivery.endpoint.url,
        response_status=answer.status_code,
    )
    Delivery.objects.filter(pk=identity).update(response_status=answer.status_code)

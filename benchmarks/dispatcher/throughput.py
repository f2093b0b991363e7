"""Measures the dispatcher's deliveries a second, compared with its two ceilings and the usual design."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from statistics import median
from typing import Any
from unittest.mock import patch

from django.db.models import Max
from django.test import override_settings

from agency.models import Agency
from benchmarks.celery_tasks.runs import NAMES as CELERY_DESIGNS
from benchmarks.celery_tasks.runs import variants as celery_variants
from benchmarks.dispatcher.ceilings import NoSending, bare_loop
from benchmarks.dispatcher.queue import fill
from benchmarks.figures import Figure
from benchmarks.processes import Broken, fast_receiver
from benchmarks.receivers.certificates import certificate
from benchmarks.rounds import interleave, median_ratio
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from config.http.client import HTTPClient
from webhooks.dispatcher import loop
from webhooks.models import Delivery

TITLE = (
    "Deliveries: microseconds for each of 600 bytes, signed, every attempt recorded, one dispatcher process, a\n"
    "receiver that answers at once over kept connections, everything on the same cores. Ratios are to the dispatcher\n"
    "with 20 endpoints; its ceilings are the bare client loop and the same pipeline with the sending left out. The\n"
    "usual designs: a Celery task per delivery, two worker processes, `requests`, an attempt recorded."
)
DELIVERIES, OF_ONE = 20_000, 5_000
AGENCIES, ENDPOINTS, MANY = 4, 20, 1_000
ROUNDS = 5
PATIENCE_SECONDS = 60.0
# 70 % of the lower ceiling: the dispatcher may take 1 / 0.7 of the slower one's time.
MOST_OF_CEILING = 1 / 0.7
LEAST_OF_USUAL = 15
DISPATCHER = "the dispatcher, 20 endpoints"
BARE = "the client's bare loop"
PIPELINE = "the dispatcher, sending left out"
BARE_TLS = "the client's bare loop, TLS"
TLS = "the dispatcher, 20 endpoints, TLS"


def run(bench: Bench) -> list[Figure]:
    agencies = [agency_with(1)[0] for _ in range(AGENCIES)]
    with ExitStack() as stack:
        plain = stack.enter_context(fast_receiver(MANY))
        few = _paths(plain[0])
        ca_file, own = certificate(bench.folder)
        secure = _paths(stack.enter_context(fast_receiver(1, own))[0])
        stack.enter_context(override_settings(WEBHOOK_CA_FILE=str(ca_file)))
        variants: dict[str, Callable[[], float]] = {
            BARE: partial(bare_loop, few, DELIVERIES),
            PIPELINE: partial(_dispatcher, agencies, few, DELIVERIES, NoSending),
            DISPATCHER: partial(_dispatcher, agencies, few, DELIVERIES),
            "the dispatcher, 1,000 endpoints on 1,000 addresses": partial(_dispatcher, agencies, plain, DELIVERIES),
            "the dispatcher, one endpoint, 8 in flight": partial(_dispatcher, agencies, plain[:1], OF_ONE),
            BARE_TLS: partial(bare_loop, secure, DELIVERIES),
            TLS: partial(_dispatcher, agencies, secure, DELIVERIES),
            **celery_variants(stack, agencies, few),
        }
        found = interleave(variants, rounds=ROUNDS)
    return [*_figures(found), *_comparisons(found)]


def _paths(origin: str) -> list[str]:
    return [f"{origin}/{number}" for number in range(ENDPOINTS)]


def _figures(found: dict[str, list[float]]) -> Iterator[Figure]:
    for name, times in found.items():
        yield Figure(
            name=name,
            measured=median(times),
            unit="µs",
            ratio=median_ratio(times, found[DISPATCHER]),
            note=f"{1e6 / median(times):,.0f} a second",
        )


def _comparisons(found: dict[str, list[float]]) -> Iterator[Figure]:
    lower = [max(bare, rest) for bare, rest in zip(found[BARE], found[PIPELINE], strict=True)]
    yield Figure(
        name="dispatcher / its lower ceiling",
        measured=median_ratio(found[DISPATCHER], lower),
        unit="x",
        at_most=MOST_OF_CEILING,
        note=f"{median_ratio(lower, found[DISPATCHER]):.0%} of it",
    )
    both = [bare + rest for bare, rest in zip(found[BARE], found[PIPELINE], strict=True)]
    yield Figure(
        name="dispatcher / both ceilings one after the other",
        measured=median_ratio(found[DISPATCHER], both),
        unit="x",
        note=f"{median_ratio(both, found[DISPATCHER]):.0%} of it",
    )
    for name in CELERY_DESIGNS.values():
        if name in found:
            yield Figure(
                name=f"dispatcher / {name}",
                measured=median_ratio(found[DISPATCHER], found[name]),
                unit="x",
                at_most=1 / LEAST_OF_USUAL,
                note=f"{median_ratio(found[name], found[DISPATCHER]):.0f} times as fast",
            )


def _dispatcher(
    agencies: Sequence[Agency], urls: Sequence[str], deliveries: int, sender: type[Any] = HTTPClient
) -> float:
    """Let a dispatcher work until all deliveries are recorded; give the microseconds for each."""
    fill(agencies, urls, deliveries)
    with patch.object(loop, "HTTPClient", sender):  # the variants differ in the client
        dispatcher = loop.Dispatcher()
    began = time.time()

    def is_over() -> bool:
        recorded = dispatcher.sent >= deliveries and not dispatcher.recorder.backlog
        return recorded or time.time() - began > PATIENCE_SECONDS

    dispatcher.run(should_stop=is_over)
    delivered = Delivery.objects.filter(status="success")
    ended = delivered.aggregate(at=Max("completed_at"))["at"]
    if ended is None or delivered.count() < deliveries:
        raise Broken("The dispatcher did not deliver everything.")
    return float(ended.timestamp() - began) / deliveries * 1e6

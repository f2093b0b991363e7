"""Compares an authenticated, limited and stamped list of 25 sub-accounts with the framework's bare list."""

from functools import partial
from statistics import median

from django.conf import settings

from benchmarks.api.calls import Cost, cost_of, handler
from benchmarks.figures import Figure
from benchmarks.rounds import interleave, median_ratio
from benchmarks.rows import agency_with
from benchmarks.servers import Bench

TITLE = (
    "API cost: CPU milliseconds of one GET of 25 sub-accounts (time.process_time of the web process's code,\n"
    "without the HTTP server; PostgreSQL's share from /proc). Ratios are to the bare ListAPIView."
)
URLCONF = "benchmarks.api.urls"
PATH = "/api/agency/v1/workspaces"
REQUESTS = 100
KEYS = 100

BARE = "bare ListAPIView with pages, no middleware"
PLAINEST = "… without pages and count"
BEHIND = "… with pages, behind our middleware"
OPEN = "our list: no key, no limit, no stamp"
KEYED = "… + key"
LIMITED = "… + limit"
WHOLE = "… + stamp: the whole request"
EACH = "… the stamp written at every request"
UNSTAMPED = "… the same keys without the stamp"


def run(_: Bench) -> list[Figure]:
    settings.ROOT_URLCONF = URLCONF  # the handlers read this at each request
    agency, keys = agency_with(25, keys=KEYS)
    product, naked = handler(urlconf=URLCONF), handler(urlconf=URLCONF, middleware=[])
    variants = {
        BARE: (naked, f"/bench/bare/{agency.pk}", keys[:1]),
        PLAINEST: (naked, f"/bench/plainest/{agency.pk}", keys[:1]),
        BEHIND: (product, f"/bench/bare/{agency.pk}", keys[:1]),
        OPEN: (product, "/api/bench/open", keys[:1]),
        KEYED: (product, "/api/bench/keyed", keys[:1]),
        LIMITED: (product, "/api/bench/limited", keys[:1]),
        WHOLE: (product, PATH, keys[:1]),
        EACH: (product, PATH, keys),
        UNSTAMPED: (product, "/api/bench/limited", keys),
    }
    found = interleave({name: partial(cost_of, *arguments, REQUESTS) for name, arguments in variants.items()})
    return [*(_line(name, found) for name in variants), *_shares(found)]


def _line(name: str, found: dict[str, list[Cost]]) -> Figure:
    python = [cost.python for cost in found[name]]
    database = median(cost.database for cost in found[name])
    return Figure(
        name=name,
        measured=median(python),
        unit="ms",
        ratio=median_ratio(python, [cost.python for cost in found[BARE]]),
        note=f"PostgreSQL {database:.2f} ms, wall {median(cost.wall for cost in found[name]):.2f} ms",
    )


def _shares(found: dict[str, list[Cost]]) -> list[Figure]:
    return [
        Figure(
            name="whole request / bare list, Python",
            measured=_ratio(found, WHOLE, BARE, "python"),
            unit="",
            at_most=0.35,
        ),
        Figure(
            name="whole request / bare list, with PostgreSQL",
            measured=_ratio(found, WHOLE, BARE, "cpu"),
            unit="",
            at_most=1.0,
        ),
        Figure(
            name="share of the stamp, a busy key",
            measured=(_ratio(found, WHOLE, LIMITED, "cpu") - 1) * 100,
            unit="%",
            at_most=10,
            note="written once a second",
        ),
        Figure(
            name="share of the stamp, if written each time",
            measured=(_ratio(found, EACH, UNSTAMPED, "cpu") - 1) * 100,
            unit="%",
            note="keys used less than once a second",
        ),
    ]


def _ratio(found: dict[str, list[Cost]], name: str, base: str, part: str) -> float:
    return median_ratio([getattr(cost, part) for cost in found[name]], [getattr(cost, part) for cost in found[base]])

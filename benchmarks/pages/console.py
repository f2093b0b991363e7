"""Measures every page to which a menu or a list of console or dashboard leads, with 10,000 sub-accounts."""

import time
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from statistics import median
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agency.models import Plan
from benchmarks.api.calls import backend_cpu_seconds
from benchmarks.figures import Figure
from benchmarks.pages.first_paint import transferred
from benchmarks.pages.rows import Rows, fill
from benchmarks.rounds import interleave
from benchmarks.servers import Bench
from config.urls import console, dashboard
from webhooks.models import Delivery

MOST_MS: Final = 50.0
MOST_KILOBYTES: Final = 300.0
ROUNDS: Final = 5
TITLE = (
    "Pages of an agency with 10,000 sub-accounts: milliseconds of processor time of the whole request, this process's\n"
    "and its PostgreSQL backend's, the median of five; then kilobytes until the first paint, with an empty cache."
)
# These only send something, or stay open.
NO_PAGES: Final = {"switch", "inbox-stream", "conversations-change", "contacts-export", "find-suggestions"}


class Measured(NamedTuple):
    """Milliseconds of one request, in this process and in PostgreSQL."""

    python: float
    database: float


def run(_: Bench) -> list[Figure]:
    settings.ADDRESS_LIMIT = 10**9
    rows = fill()
    browser = Client(HTTP_HOST="127.0.0.1:8000")
    browser.force_login(rows.owner)
    browser.post(reverse("app:switch"), {"workspace": str(rows.workspace.uuid)})
    reads = dict(_pages(browser, rows))
    costs = interleave({name: partial(_cost, browser, path) for name, path in reads.items()}, rounds=ROUNDS)
    return [figure for name, path in reads.items() for figure in _figures(browser, name, path, costs[name])]


def _pages(browser: Client, rows: Rows) -> Iterator[tuple[str, str]]:
    """Give the URL name and address of each page that needs no other rows than those of `rows`."""
    named = {"console": _ids(rows), "app": {}}
    for area, patterns in (("console", console), ("app", dashboard)):
        for pattern in patterns:
            name = str(getattr(pattern, "name", ""))
            arguments = [named[area][name]] if name in named[area] else []
            if name in NO_PAGES or len(pattern.pattern.converters) != len(arguments):
                continue
            path = reverse(f"{area}:{name}", args=arguments)
            if browser.get(path).status_code == HTTPStatus.OK:
                yield f"{area}:{name}", path
    yield "console:sub-accounts, searched", reverse("console:sub-accounts") + "?search=harbour"
    yield "console:home, 30 days", reverse("console:home") + "?period=30d"


def _ids(rows: Rows) -> dict[str, UUID]:
    workspace, endpoint = rows.workspace.uuid, rows.endpoint.uuid
    of_workspace = dict.fromkeys(
        ("sub-account", "sub-account-edit", "sub-account-activity", "sub-account-plan", "sub-account-owner"), workspace
    )
    plan = Plan.objects.filter(agency=rows.agency).earliest("id").uuid
    delivery = Delivery.objects.filter(endpoint=rows.endpoint).latest("id").uuid
    return {
        **of_workspace,
        **dict.fromkeys(("webhook", "webhook-edit"), endpoint),
        **dict.fromkeys(("plan", "plan-edit"), plan),
        "webhook-delivery": delivery,
        "channel-connect-start-for": workspace,
    }


def _cost(browser: Client, path: str) -> Measured:
    database, python = backend_cpu_seconds(), time.process_time()
    browser.get(path)
    return Measured((time.process_time() - python) * 1000, (backend_cpu_seconds() - database) * 1000)


def _figures(browser: Client, name: str, path: str, costs: list[Measured]) -> Iterator[Figure]:
    with CaptureQueriesContext(connection) as captured:
        answer: Any = browser.get(path)
    python, database = (median(values) for values in zip(*costs, strict=True))
    note = f"{python:.0f} in Python, {database:.0f} in PostgreSQL, {len(captured)} statements"
    total = median(sum(cost) for cost in costs)
    yield Figure(name=name, measured=total, unit="ms", at_most=MOST_MS, note=note)
    kilobytes = transferred(browser, answer.getvalue()) / 1000
    yield Figure(name=f"{name}, first paint", measured=kilobytes, unit="kB", at_most=MOST_KILOBYTES)

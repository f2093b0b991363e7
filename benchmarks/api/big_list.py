"""Measures what the statements of a list of 100,000 sub-accounts cost in the database."""

import json
from functools import partial
from statistics import median

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from benchmarks.api.calls import get, handler
from benchmarks.figures import Figure
from benchmarks.rounds import interleave, median_ratio
from benchmarks.rows import agency_with
from benchmarks.servers import Bench

TITLE = (
    "An agency with 100,000 sub-accounts: milliseconds in the database of a whole request (EXPLAIN ANALYZE, planning\n"
    "and execution of every statement that the request makes). Ratios are to page 1."
)
SUB_ACCOUNTS = 100_000
PATH = "/api/agency/v1/workspaces"
SINGLE_DIGIT = 10
PAGES = {
    "page 1": "?page=1",
    "page 2,000": "?page=2000",
    "the last page, 4,000": "?page=4000",
    "search that matches 250": "?search=harbour+bakery",
    "search that matches one": "?search=BAKERY+77008",
}
BROAD = {
    "search that matches 5,000": "?search=harbour",
    "search of one letter, all match": "?search=a",
    "filter that 25,000 pass": "?status=active&business_type=salon_spa",
}


def run(_: Bench) -> list[Figure]:
    settings.ROOT_URLCONF = "config.urls"
    keys = agency_with(SUB_ACCOUNTS)[1]
    application = handler(urlconf="config.urls")
    lists = {**PAGES, **BROAD}
    found = interleave({name: partial(_database_ms, application, query, keys[0]) for name, query in lists.items()})
    return [
        Figure(
            name=name,
            measured=median(found[name]),
            unit="ms",
            ratio=median_ratio(found[name], found["page 1"]),
            at_most=SINGLE_DIGIT if name in PAGES else None,
            note="" if name in PAGES else "counts what it matches",
        )
        for name in lists
    ]


def _database_ms(application: WSGIHandler, query: str, key: str) -> float:
    with CaptureQueriesContext(connection) as captured:
        get(application, PATH + query, key)
    return sum(_explained_ms(statement["sql"]) for statement in captured.captured_queries)


def _explained_ms(statement: str) -> float:
    """Run a statement again under EXPLAIN ANALYZE, and roll it back."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + statement.replace("%", "%%"), [])
        explained = cursor.fetchone()[0]
        transaction.set_rollback(True)
    plan = (json.loads(explained) if isinstance(explained, str) else explained)[0]
    return float(plan["Planning Time"]) + float(plan["Execution Time"])

"""Counts the product's transactions while nobody uses it, by the process that makes them."""

import os
import time
from collections import Counter
from pathlib import Path

import psycopg

from benchmarks.figures import Figure
from benchmarks.processes import Broken, started
from benchmarks.servers import Bench
from tools.local.state import RUN, read_json

SETTLE_SECONDS, COUNTED_SECONDS, START_SECONDS = 45.0, 40.0, 180.0
# The threads that look for work, and are woken when there is some.
LOOKING = ("sender claimer", "dispatcher claimer", "dispatcher fan-out")
MOST_LOOKING = 8.0
OURS = "bench"
# PostgreSQL writes the application and the transaction before each line of its log.
MARK = "<statement of>"
PREFIX = f"{MARK}%a|%v|"
TITLE = (
    f"At rest: `make run` with a new database and nobody who uses it, {SETTLE_SECONDS:.0f} s after its start.\n"
    f"Transactions a second, counted over {COUNTED_SECONDS:.0f} s."
)


def run(bench: Bench) -> list[Figure]:
    state = bench.folder / "rest"
    # It starts new servers, because those of the benchmarks hold other benchmarks' rows.
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    with started("tools.local.run", "--state", str(state), "--port", "0", environment=environment):
        url = _wait_until_ready(state)
        time.sleep(SETTLE_SECONDS)
        rates = _count(url, state / "postgres.log")
    looking = sum(rates.get(name, 0.0) for name in LOOKING)
    return [
        Figure(name="claimers and fan-out", measured=looking, unit="", at_most=MOST_LOOKING),
        *(Figure(name=name, measured=rate, unit="") for name, rate in sorted(rates.items(), key=lambda one: -one[1])),
        Figure(name="all", measured=sum(rates.values()), unit=""),
    ]


def _wait_until_ready(state: Path) -> str:
    """Wait for the product's start; give the address of its database."""
    until = time.monotonic() + START_SECONDS
    while not (known := read_json(state / RUN)).get("ready"):
        if time.monotonic() > until:
            raise Broken("The product does not start.")
        time.sleep(0.5)
    return str(known["env"]["DATABASE_URL"])


def _count(url: str, log: Path) -> dict[str, float]:
    """Log all statements for a while; give the transactions a second by application name."""
    with psycopg.connect(url, autocommit=True, application_name=OURS) as connection:
        connection.execute(f"ALTER SYSTEM SET log_line_prefix = '{PREFIX}'".encode())
        _log_statements(connection, "all")
        before, began = log.stat().st_size, time.monotonic()
        time.sleep(COUNTED_SECONDS)
        took = time.monotonic() - began
        _log_statements(connection, "none")
    with log.open("rb") as file:
        file.seek(before)
        lines = file.read().decode(errors="replace").split(MARK)[1:]
    transactions = {(parts[0], parts[1]) for parts in (line.split("|", 2) for line in lines)}
    counts = Counter(application or "others" for application, _ in transactions if application != OURS)
    return {application: number / took for application, number in counts.items()}


def _log_statements(connection: "psycopg.Connection[tuple[object, ...]]", which: str) -> None:
    for statement in (f"ALTER SYSTEM SET log_statement = '{which}'", "SELECT pg_reload_conf()"):
        connection.execute(statement.encode())
    time.sleep(1)  # each process reads its settings again before its next statement

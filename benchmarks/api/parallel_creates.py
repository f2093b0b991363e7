"""Creates twenty sub-accounts at once in one agency, through the web server that an installation runs."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPConnection
from threading import Barrier

from agency.actors import SYSTEM
from agency.models import Agency
from agency.services import change_agency
from benchmarks.figures import Figure
from benchmarks.processes import Broken, web_server
from benchmarks.rounds import interleave, percentile
from benchmarks.rows import agency_with
from benchmarks.servers import Bench

TITLE = (
    "Parallel creates: milliseconds of `POST /workspaces`, 20 at once in one agency, each with an owner who is new.\n"
    "Ratios are to 20 at once of 20 agencies, where none can wait for another's lock."
)
PATH = "/api/agency/v1/workspaces"
AT_ONCE = 20
ROUNDS = 5
WANTED_MS = 500
CREATED = 201
SHARES = {"p50": 0.5, "p99": 0.99}
APART = "20 at once, of 20 agencies"
PATIENCE_SECONDS = 30


def run(_: Bench) -> list[Figure]:
    key = agency_with(1)[1][0]
    limited, [limited_key] = agency_with(1)
    _allow(limited, AT_ONCE * (ROUNDS + 2))
    others = [agency_with(1)[1][0] for _ in range(AT_ONCE)]
    with web_server() as port:
        found = interleave(
            {
                "one after another": partial(_one_by_one, port, key),
                APART: partial(_at_once, port, others),
                "20 at once": partial(_at_once, port, [key] * AT_ONCE),
                "20 at once, of an agency with a limit": partial(_at_once, port, [limited_key] * AT_ONCE),
            },
            rounds=ROUNDS,
        )
    times = {name: [one for round_ in rounds for one in round_] for name, rounds in found.items()}
    return [_figure(name, share, times) for name in times for share in SHARES]


def _allow(agency: Agency, number: int) -> None:
    change_agency(agency=agency, name=agency.name, max_sub_accounts=number, by=SYSTEM)


def _figure(name: str, share: str, times: dict[str, list[float]]) -> Figure:
    measured, base = (percentile(times[one], SHARES[share]) for one in (name, APART))
    wanted = WANTED_MS if share == "p99" and name.startswith("20 at once") else None
    return Figure(name=f"{name}, {share}", measured=measured, unit="ms", ratio=measured / base, at_most=wanted)


def _one_by_one(port: int, key: str) -> list[float]:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    times = [_create(connection, key) for _ in range(AT_ONCE)]
    connection.close()
    return times


def _at_once(port: int, keys: list[str]) -> list[float]:
    start = Barrier(AT_ONCE)

    def create(key: str) -> float:
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        connection.connect()
        start.wait(PATIENCE_SECONDS)
        took = _create(connection, key)
        connection.close()
        return took

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [one.result() for one in [pool.submit(create, key) for key in keys]]


def _create(connection: HTTPConnection, key: str) -> float:
    """Create a sub-account; give the milliseconds until the answer was read."""
    owner = {"name": "Owner", "email": f"owner-{time.monotonic_ns()}-{id(connection)}@example.com"}
    body = json.dumps({"name": "Corner Salon", "owner": owner})
    started = time.perf_counter()
    connection.request("POST", PATH, body, {"x-api-key": key, "Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != CREATED:
        raise Broken(f"A creation was answered {answer.status}: {content[:200]!r}")
    return (time.perf_counter() - started) * 1000

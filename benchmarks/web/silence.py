"""Measures how long a call waits for its 503 while PostgreSQL is silent."""

import http.client
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from benchmarks.figures import Figure
from benchmarks.processes import Broken
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from benchmarks.web.client import Calls, one_call, server
from tools.local.database_proxy import Mode, proxy_to

TITLE = (
    "Silent PostgreSQL: seconds from a call to its 503, 40 calls at once; connections are accepted and pass no bytes."
)
CALLS = 40
MOST_SECONDS = 6.0


def run(_: Bench) -> list[Figure]:
    _agency, (key,) = agency_with(25)
    settings = connection.settings_dict
    with proxy_to(f"{settings['HOST']}/.s.PGSQL.{settings['PORT']}") as proxy:
        address = f"postgresql://{settings['USER']}@127.0.0.1:{proxy.port}/{settings['NAME']}"
        with server(DATABASE_URL=address) as port:
            _at_once(port, key)
            proxy.become(Mode.SILENT)
            kept, new = _at_once(port, key), _at_once(port, key)
            proxy.become(Mode.PASSING)
            again = _at_once(port, key)
    return [
        _figure("kept connections fall silent", kept),
        _figure("new connections are not answered", new),
        Figure(name="calls that failed once it answered again", measured=again.failed, unit="", at_most=0),
    ]


def _at_once(port: int, key: str) -> Calls:
    calls = Calls()
    with ThreadPoolExecutor(CALLS) as pool:
        for _ in range(CALLS):
            pool.submit(one_call, http.client.HTTPConnection("127.0.0.1", port, timeout=30), key, calls)
    return calls


def _figure(name: str, calls: Calls) -> Figure:
    if set(calls.outcomes) != {"503"}:
        raise Broken(f"{name}: {dict(calls.outcomes)}")
    return Figure(name=f"{name}, slowest", measured=max(calls.seconds), unit="s", at_most=MOST_SECONDS)

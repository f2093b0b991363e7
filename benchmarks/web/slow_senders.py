"""Measures what slow senders cost other clients, and what reading bodies on the event loop costs each call."""

import time
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from statistics import median

from benchmarks.figures import Figure
from benchmarks.rounds import interleave, median_ratio, percentile
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from benchmarks.web.client import calling, cpu_seconds, held, server

TITLE = (
    "Web server: a list of 25 sub-accounts by four clients, two processes with four threads each. p99 beside slow\n"
    "senders as a ratio to the same calls without them; CPU a call of the ASGI entry against plain WSGI threads."
)
SECONDS = 3.0
ROUNDS = 3
CLIENTS = 4
HALF = b"POST /account/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\nhalf"
HEAD = b"GET /account/sign-in HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
WSGI = ("--interface", "wsgi", "--workers", "2", "--blocking-threads", "4", "--http", "1", "--no-ws")
ALONE, BODIES, HEADS, DRIPS = "nobody", "200 half bodies", "1,000 dripping heads", "1,000 dripping bodies"
NAMES = (ALONE, BODIES, HEADS, DRIPS)


def _beside_whom(name: str, port: int) -> AbstractContextManager[None]:
    """Hold the named kind of connections; dripping ones send a byte a second."""
    if name == ALONE:
        return nullcontext()
    if name == BODIES:
        return held(port, HALF, 200)
    return held(port, HEAD if name == HEADS else HALF, 1000, drip_seconds=1.0)


def run(_: Bench) -> list[Figure]:
    _agency, (key,) = agency_with(25)
    with server() as port, server(*WSGI, application="config.wsgi:application") as plain:
        found = interleave({name: partial(_p99_beside, port, key, name) for name in NAMES}, rounds=ROUNDS)
        costs = interleave({"asgi": partial(_cost, port, key), "wsgi": partial(_cost, plain, key)}, rounds=ROUNDS)
    return [*(_beside(name, found) for name in NAMES), *_cost_figures(costs)]


def _p99_beside(port: int, key: str, name: str) -> float:
    with _beside_whom(name, port), calling(port, key, CLIENTS) as calls:
        time.sleep(SECONDS)
    return percentile(calls.seconds, 0.99) * 1000


def _beside(name: str, found: dict[str, list[float]]) -> Figure:
    ratio = median_ratio(found[name], found[ALONE])
    if name == ALONE:
        return Figure(name=f"p99 beside {name}", measured=median(found[name]), unit="ms")
    note = f"p99 {median(found[name]):.1f} ms"
    return Figure(name=f"p99 beside {name} / alone", measured=ratio, unit="", at_most=1.5, note=note)


def _cost(port: int, key: str) -> float:
    before = cpu_seconds(port)
    with calling(port, key, CLIENTS) as calls:
        time.sleep(SECONDS)
    return (cpu_seconds(port) - before) * 1000 / len(calls.seconds)


def _cost_figures(costs: dict[str, list[float]]) -> list[Figure]:
    ratio = median_ratio(costs["asgi"], costs["wsgi"])
    return [
        Figure(name="CPU a call, WSGI threads", measured=median(costs["wsgi"]), unit="ms"),
        Figure(name="CPU a call, ASGI entry", measured=median(costs["asgi"]), unit="ms", ratio=ratio),
        Figure(name="CPU a call, ASGI entry / WSGI threads", measured=ratio, unit="", at_most=1.3),
    ]

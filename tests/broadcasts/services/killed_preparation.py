"""Prepares broadcasts, killed at each of its statements: for `tests.processes.preloaded`.

The moments are those of `killed_at_statements`. With `two` each works over two connections at once, and is killed
before a statement only: with the next one that comes to the same. With `careless` the place that preparation has come
to is written in a transaction of its own, which must not go unnoticed.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from signal import SIGKILL
from typing import Any

from django.db import connection

from broadcasts.services import preparation as preparing_module
from config.tries.models import BegunWork
from tests.broadcasts.services.making import work
from tests.processes.killed_at_statements import Moment, ended_child, kill_at, moments
from tests.sizes import FULL_SIZE

CHUNK = 4


def be_careless() -> None:
    """Commit the place before the recipients."""
    preparing: Any = preparing_module
    find_chunk, advance = preparing.find_chunk, preparing._advance

    def find_and_write(broadcast: int, **options: Any) -> Any:
        chunk = find_chunk(broadcast, **options)
        if chunk is not None:
            with connection.copy().cursor() as cursor:
                place = [chunk.up_to, broadcast]
                cursor.execute("UPDATE broadcasts_broadcast SET prepared_up_to = %s WHERE id = %s", place)
        return chunk

    preparing.find_chunk = find_and_write
    preparing._advance = lambda chunk, outcome: advance(chunk._replace(after=chunk.up_to), outcome)


def prepare_killed(moment: Moment, *, connections: int) -> int:
    """Prepare in a process of its own, as if none had died before; gives the signal that ended it, or 0."""
    killed = kill_at(moment)

    def forget() -> None:
        BegunWork.objects.all().delete()

    ended_child(forget)

    def prepare() -> None:
        with connection.execute_wrapper(killed):
            work(CHUNK)

    def prepare_at_once() -> None:
        with ThreadPoolExecutor(connections) as pool:
            works = [pool.submit(prepare) for _ in range(connections)]
        for done in works:
            done.result()

    return ended_child(prepare_at_once)


def main(how: str) -> None:
    if how == "careless":
        be_careless()
    kills = 0
    for moment in moments():
        if how == "two":
            if not moment.is_before and FULL_SIZE:
                continue
            moment = moment._replace(is_before=True)
        if prepare_killed(moment, connections=2 if how == "two" else 1) != SIGKILL:
            sys.stdout.write(str(kills))
            return
        kills += 1

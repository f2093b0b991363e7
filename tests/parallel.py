"""Does the same work in many threads at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection, connections

from tests.waiting import PATIENCE_SECONDS

Answer = TypeVar("Answer")


def wait_longer_for_locks() -> None:
    """Let this thread wait for locks for as long as a busy machine needs; the product gives up sooner."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{PATIENCE_SECONDS}s'")
        cursor.execute("SET statement_timeout = 0")


def at_once(work: Callable[[int], Answer], *, times: int, threads: int | None = None) -> list[Answer]:
    """Do the work `times` times in threads that start together; each closes its database connection."""
    threads = threads or times
    start = Barrier(threads)

    def do_share(thread: int) -> list[Answer]:
        try:
            wait_longer_for_locks()
            start.wait(PATIENCE_SECONDS)
            return [work(number) for number in range(thread, times, threads)]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        return [answer for share in pool.map(do_share, range(threads)) for answer in share]

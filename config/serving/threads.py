"""The threads that run Django. Their number is fixed, each keeps its database connection, and waiting is bounded."""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)


class Job:
    """Work that either a thread begins or the event loop gives up, whichever comes first."""

    def __init__(self, work: Callable[[float], None]) -> None:
        self.work = work
        self.queued_at = time.monotonic()
        self._open = [True]

    def take(self) -> bool:
        """Return whether the caller gets the work. Only one caller does, because `pop` is atomic."""
        try:
            return self._open.pop()
        except IndexError:
            return False


class ThreadPool:
    """A fixed number of threads that do jobs in turn. A job that has not begun within `wait_seconds` is given up."""

    def __init__(self, name: str, size: int, *, wait_seconds: float) -> None:
        self.name, self.size, self.wait_seconds = name, size, wait_seconds
        self.unfinished = 0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the threads. They are daemons, because a request must not keep a stopped server alive."""
        for number in range(len(self._threads), self.size):
            thread = threading.Thread(target=self._work, name=f"{self.name}-{number + 1}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Let the threads do what is queued, then end. The caller waits at most `wait_seconds`."""
        for _ in self._threads:
            self._jobs.put(None)
        until = time.monotonic() + self.wait_seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def submit(self, work: Callable[[float], None], give_up: Callable[[], None] | None) -> None:
        """Do work in a thread, which is told how long it waited. If none begins it in time, call `give_up` on the loop.

        Work without `give_up` is done however long it waits.
        """
        if not self._threads:
            self.start()
        job = Job(work)
        self._count(1)
        if give_up and self.unfinished > self.size:
            asyncio.get_running_loop().call_later(self.wait_seconds, self._give_up, job, give_up)
        self._jobs.put(job)

    @property
    def busy(self) -> int:
        """How many threads are at work."""
        return min(self.unfinished, self.size)

    def _count(self, more: int) -> None:
        with self._lock:
            self.unfinished += more

    def _give_up(self, job: Job, give_up: Callable[[], None]) -> None:
        if job.take():
            self._count(-1)
            give_up()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            if not job.take():
                continue
            try:
                job.work(time.monotonic() - job.queued_at)
            except Exception:
                logger.exception("a request's thread met a fault")
            finally:
                self._count(-1)
                del job

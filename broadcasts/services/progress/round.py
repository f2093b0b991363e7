"""Runs broadcasts beside the sender: begins them, prepares their recipients in turn, and completes them."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Final

from django.db import DatabaseError, connection
from django.db.models.functions import Now

from broadcasts.services.moving import SWEEP as WAKE_UP
from broadcasts.services.progress.beginning import (
    begin_due_broadcasts,
    begin_refused_broadcasts,
    due_broadcasts,
    refused_broadcasts,
)
from broadcasts.services.progress.cancelling import cancelled_broadcasts, skip_next_cancelled
from broadcasts.services.progress.completing import complete_broadcasts, prepared_broadcasts
from broadcasts.services.progress.turns import PreparationTurns, unprepared_broadcasts
from config.celery.due_work import DueWork, due_among
from config.celery.tasks import in_batches
from config.db import database_now
from config.leases.wake_ups import WakeUpListener
from config.recovery.identity import is_confirmed

logger = logging.getLogger(__name__)

# The seconds between two looks for due work while a broadcast is under way or about to begin. Preparation goes on
# between them.
LOOK_SECONDS: Final = 0.5
# The seconds between looks at all other times, when a move of a broadcast wakes this process at once. These looks find
# broadcasts whose workspace was restored, and moves made while Redis was away.
REST_SECONDS: Final = 2.0
REST: Final = timedelta(seconds=REST_SECONDS)
# The shortest time between two looks, however many broadcasts are moved.
LEAST_SECONDS: Final = 0.1
SKIPPING_SECONDS: Final = 0.2
SOON: Final = "about to begin"
WORK: Final = (
    DueWork("to begin", (lambda: due_broadcasts(Now()), refused_broadcasts)),
    DueWork("to end", (cancelled_broadcasts, prepared_broadcasts)),
    DueWork("to prepare", (unprepared_broadcasts,)),
    DueWork(SOON, (lambda: due_broadcasts(Now() + REST),)),
)


class Round:
    """Prepares chunk by chunk, and looks now and then for broadcasts to begin, to skip and to complete."""

    def __init__(self, *, chunk: int | None = None) -> None:
        self._turns = PreparationTurns(chunk=chunk)
        self._looked_at = self._look_at = 0.0
        self._completed_up_to = 0

    @property
    def is_large(self) -> bool:
        """Whether the broadcast in preparation is large enough for two connections."""
        return self._turns.is_large

    def go_on(self) -> bool:
        """Do a piece of work. Returns whether there was any."""
        if time.monotonic() >= self._look_at:
            self.look()
        return self._turns.go_on()

    def look_soon(self) -> None:
        """Make the next piece begin with a look."""
        self._look_at = min(self._look_at, self._looked_at + LEAST_SECONDS)

    def look(self) -> None:
        """Begin due broadcasts, end finished ones, and learn what to prepare.

        If there is none of it, one statement without a transaction says so.
        """
        found = due_among(WORK)
        self._looks_again_in(LOOK_SECONDS if found else REST_SECONDS)
        if not found - {SOON} and self._turns.is_empty:
            return
        now = database_now()
        # After a restore a due broadcast may have begun before. It waits until `after_restore` has looked at it.
        with connection.cursor() as cursor:
            may_begin = is_confirmed(cursor)
        if may_begin:
            begin_due_broadcasts(now=now)
            begin_refused_broadcasts(now=now)
        in_batches(partial(skip_next_cancelled, now=now), seconds=SKIPPING_SECONDS)
        self._completed_up_to = complete_broadcasts(now=now, after=self._completed_up_to)
        self._turns.learn()
        self._looks_again_in(LOOK_SECONDS)

    def _looks_again_in(self, seconds: float) -> None:
        self._looked_at = time.monotonic()
        self._look_at = self._looked_at + seconds


def run_round(
    *, should_stop: Callable[[], bool], idle_seconds: float = LOOK_SECONDS / 2, chunk: int | None = None
) -> None:
    """Work until `should_stop`. While a large broadcast is prepared, a second connection helps."""
    current, helping, woken = Round(chunk=chunk), Future[None](), threading.Event()
    helping.set_result(None)
    listener = WakeUpListener(WAKE_UP, woken.set)
    listener.thread.start()
    try:
        with ThreadPoolExecutor(1, thread_name_prefix="preparing") as pool:
            while not should_stop():
                if not current.go_on():
                    if woken.wait(idle_seconds):
                        woken.clear()
                        current.look_soon()
                elif current.is_large and helping.done():
                    helping.result()
                    helping = pool.submit(prepare_beside, should_stop=should_stop, chunk=chunk)
    finally:
        listener.stop()


def prepare_beside(*, should_stop: Callable[[], bool], chunk: int | None = None) -> None:
    """Prepare on this thread's own connection until nothing is left that others have not taken."""
    turns = PreparationTurns(chunk=chunk)
    try:
        turns.learn()
        while not should_stop() and turns.go_on():
            turns.learn_when_due(LOOK_SECONDS)
    except DatabaseError as error:
        # The database is away; the first connection notices it too.
        logger.warning("the second connection cannot prepare", extra={"fault": type(error).__name__})
    finally:
        connection.close()

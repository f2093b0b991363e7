"""What keeps broadcasts going beside the sender: begins them, prepares their recipients in turn, and ends them."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Final

from django.db import DatabaseError, connection
from django.db.models.functions import Now

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
from config.recovery.identity import is_confirmed

logger = logging.getLogger(__name__)

# How often it is looked for what is due. Preparation goes on between two looks.
LOOK_SECONDS: Final = 0.5
SKIPPING_SECONDS: Final = 0.2
WORK: Final = (
    DueWork("to begin", (lambda: due_broadcasts(Now()), refused_broadcasts)),
    DueWork("to end", (cancelled_broadcasts, prepared_broadcasts)),
    DueWork("to prepare", (unprepared_broadcasts,)),
)


class Round:
    """Prepares chunk by chunk, and looks now and then for what is due and what is through."""

    def __init__(self, *, chunk: int | None = None) -> None:
        self._turns = PreparationTurns(chunk=chunk)
        self._looked_at: float | None = None
        self._completed_up_to = 0

    @property
    def is_large(self) -> bool:
        """Whether what it prepares at the moment is enough for two."""
        return self._turns.is_large

    def go_on(self) -> bool:
        """Do a piece; says whether there was any."""
        if self._looked_at is None or time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self.look()
        return self._turns.go_on()

    def look(self) -> None:
        """Begin what is due, end what is through, and learn what has to be prepared.

        One statement, without a transaction, finds that there is nothing of that.
        """
        self._looked_at = time.monotonic()
        if self._turns.is_empty and not due_among(WORK):
            return
        now = database_now()
        # After a restore what is due may have begun before: it waits until `after_restore` has looked at it.
        with connection.cursor() as cursor:
            may_begin = is_confirmed(cursor)
        if may_begin:
            begin_due_broadcasts(now=now)
            begin_refused_broadcasts(now=now)
        in_batches(partial(skip_next_cancelled, now=now), seconds=SKIPPING_SECONDS)
        self._completed_up_to = complete_broadcasts(now=now, after=self._completed_up_to)
        self._turns.learn()
        self._looked_at = time.monotonic()


def run_round(
    *, should_stop: Callable[[], bool], idle_seconds: float = LOOK_SECONDS / 2, chunk: int | None = None
) -> None:
    """Go on until it is to stop. While a large broadcast is prepared, a second connection helps."""
    current, helping = Round(chunk=chunk), Future[None]()
    helping.set_result(None)
    with ThreadPoolExecutor(1, thread_name_prefix="preparing") as pool:
        while not should_stop():
            if not current.go_on():
                time.sleep(idle_seconds)
            elif current.is_large and helping.done():
                helping.result()
                helping = pool.submit(prepare_beside, should_stop=should_stop, chunk=chunk)


def prepare_beside(*, should_stop: Callable[[], bool], chunk: int | None = None) -> None:
    """Prepare on this thread's own connection until nothing is left that others do not have."""
    turns = PreparationTurns(chunk=chunk)
    try:
        turns.learn()
        while not should_stop() and turns.go_on():
            turns.learn_when_due(LOOK_SECONDS)
    except DatabaseError as error:
        # The database is away, of which the first connection hears, too.
        logger.warning("the second connection cannot prepare", extra={"fault": type(error).__name__})
    finally:
        connection.close()

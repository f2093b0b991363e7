"""The order of jobs: agencies in turn, and each agency's jobs in turn, so that a large job delays no small one."""

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from django.db import connection
from django.db.models import Model, QuerySet

from agency.models import BulkOperation, Export
from agency.models.jobs import ACTIVE
from agency.services.bulk import give_up_operation, run_batch
from agency.services.exports import give_up_export, write_next_part
from config.db import database_now
from config.leases.backlog import Path, RoundRobin
from config.tries.counting import has_begun, run_counted

logger = logging.getLogger(__name__)

# How often new jobs are looked for; the work goes on between two looks.
POLL_SECONDS: Final = 0.5
MOST_KNOWN: Final = 10_000
# How long a job rests after a fault; other jobs go on meanwhile.
PAUSE_SECONDS: Final = 30.0
KINDS: Final = (BulkOperation, Export)


class Job(NamedTuple):
    """The name of a kind of jobs where tries are counted, what does a piece of a job, and what ends a job."""

    kind: str
    work: Callable[..., bool]
    give_up: Callable[..., bool]


# In the order of `KINDS`.
JOBS: Final = (Job("bulk operation", run_batch, give_up_operation), Job("export", write_next_part, give_up_export))


class JobScheduler:
    """Does jobs in small pieces. A path consists of an agency, a kind of jobs and a job."""

    def __init__(self) -> None:
        self._turns = RoundRobin()
        self._known: set[Path] = set()
        self._rests: dict[Path, float] = {}
        self._looked_at: float | None = None

    def go_on(self) -> bool:
        """Do a piece of the job whose turn it is; return whether there was one."""
        if self._looked_at is None or time.monotonic() - self._looked_at >= POLL_SECONDS:
            self._look()
        path = next(self._turns.in_turn(most_of_each=1), None)
        if path is None:
            return False
        self._turns.end_turn(path)
        if not self._work(path):
            self._turns.remove(path)
            self._known.discard(path)
        return True

    def _look(self) -> None:
        self._looked_at = now = time.monotonic()
        self._rests = {path: until for path, until in self._rests.items() if until > now}
        found = {path: has_died for path, has_died in _active().items() if path not in self._rests}
        for path in self._known - found.keys():
            self._turns.remove(path)
        # Jobs that killed their process come after all others, which might otherwise never have their turn.
        for path in sorted(found.keys() - self._known, key=lambda path: (found[path], path)):
            self._turns.add(path)
        self._known = set(found)

    def _work(self, path: Path) -> bool:
        job, pk, now = JOBS[path[1]], path[-1], database_now()
        try:
            return run_counted(
                partial(job.work, pk, now=now), kind=job.kind, key=pk, give_up=partial(job.give_up, pk, now=now)
            )
        except Exception as error:  # the outermost loop: a fault of one job must not stop the others
            if not connection.is_usable():
                raise  # the database is away, which says nothing about the job
            logger.exception("a job could not go on", extra={"job": path[-1], "fault": type(error).__name__})
            self._rests[path] = time.monotonic() + PAUSE_SECONDS
            return False


def _active() -> dict[Path, bool]:
    """Return the active jobs, each with whether its process died."""
    found: dict[Path, bool] = {}
    for kind, model in enumerate(KINDS):
        rows = active_jobs(model).annotate(has_died=has_begun(JOBS[kind].kind))
        active = rows.order_by("has_died", "id").values_list("agency_id", "pk", "has_died")[:MOST_KNOWN]
        found |= {(agency, kind, pk): has_died for agency, pk, has_died in active}
    return found


def active_jobs(model: type[Model]) -> "QuerySet[Model]":
    """Return the waiting and running jobs of a kind, in their order."""
    return model._default_manager.filter(state__in=ACTIVE).order_by("id")


def run_jobs(*, seconds: float) -> None:
    """Work on the active jobs until none is left, or until `seconds` have passed."""
    until = time.monotonic() + seconds
    current = JobScheduler()
    while current.go_on() and time.monotonic() < until:
        pass

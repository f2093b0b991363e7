"""The order of jobs: agencies in turn, and each agency's jobs in turn, so that a large job delays no small one.

A job whose piece fails, or kills its process, is tried again after a while, which grows. After five tries it has
failed, until support begins it again.
"""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple

from django.db import connection, transaction
from django.db.models import Model, QuerySet

from agency.actors import Actor
from agency.models import BulkOperation, Export
from agency.models.jobs import ACTIVE
from agency.services.bulk import give_up_operation, restart_operation, run_batch
from agency.services.exports import give_up_export, kept_exports, restart_export, write_next_part
from config.db import database_now
from config.errors import Conflict
from config.leases.backlog import Path, RoundRobin
from config.tries.counting import forget_tries, has_begun, rests, run_counted

logger = logging.getLogger(__name__)

# How often new jobs are looked for; the work goes on between two looks.
POLL_SECONDS: Final = 0.5
MOST_KNOWN: Final = 10_000
# How long a job waits after a try that failed or died; other jobs go on meanwhile.
WAITS: Final = (timedelta(seconds=10), timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))
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
        self._looked_at = time.monotonic()
        found = _due()
        for path in self._known - found.keys():
            self._turns.remove(path)
        # Jobs that died or failed come after all others, which might otherwise never have their turn.
        for path in sorted(found.keys() - self._known, key=lambda path: (found[path], path)):
            self._turns.add(path)
        self._known = set(found)

    def _work(self, path: Path) -> bool:
        job, pk, now = JOBS[path[1]], path[-1], database_now()
        try:
            work, give_up = partial(job.work, pk, now=now), partial(job.give_up, pk, now=now)
            return run_counted(work, kind=job.kind, key=pk, give_up=give_up, counts_faults=True)
        except Exception as error:  # the outermost loop: a fault of one job must not stop the others
            if not connection.is_usable():
                raise  # the database is away, which says nothing about the job
            logger.exception("a job could not go on", extra={"job": path[-1], "fault": type(error).__name__})
            return False


def _due() -> dict[Path, bool]:
    """Return the active jobs that do not wait after a try, each with whether its last try died or failed."""
    found: dict[Path, bool] = {}
    for kind, model in enumerate(KINDS):
        rows = due_jobs(model).annotate(has_died=has_begun(JOBS[kind].kind))
        due = rows.order_by("has_died", "id").values_list("agency_id", "pk", "has_died")[:MOST_KNOWN]
        found |= {(agency, kind, pk): has_died for agency, pk, has_died in due}
    return found


def due_jobs(model: type[Model]) -> "QuerySet[Model]":
    """Return the waiting and running jobs of a kind that do not wait after a try, in their order."""
    kind = JOBS[KINDS.index(model)].kind
    return model._default_manager.filter(~rests(kind, WAITS), state__in=ACTIVE).order_by("id")


def run_jobs(*, seconds: float) -> None:
    """Work on the active jobs until none is left, or until `seconds` have passed."""
    until = time.monotonic() + seconds
    current = JobScheduler()
    while current.go_on() and time.monotonic() < until:
        pass


class JobHasNotFailed(Conflict):
    message = "Only a job that has failed can be restarted."


class ExportTooOld(Conflict):
    message = "This export is too old to be restarted. Export its list again instead."


@transaction.atomic
def restart_job(*, job: BulkOperation | Export, by: Actor) -> None:
    """Begin a failed job again: a bulk change with what is left of it, an export from its first row.

    Its tries are counted from the beginning. Raises `JobHasNotFailed` and `ExportTooOld`.
    """
    locked = type(job).objects.select_for_update(of=("self",)).select_related("agency").get(pk=job.pk)
    if locked.state != locked.State.FAILED:
        raise JobHasNotFailed
    forget_tries(kind=JOBS[KINDS.index(type(job))].kind, keys=[job.pk])
    if isinstance(locked, BulkOperation):
        restart_operation(locked, by=by)
        return
    if not kept_exports(locked.agency, database_now()).filter(pk=locked.pk).exists():
        raise ExportTooOld
    restart_export(locked, by=by)

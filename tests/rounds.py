"""Whole rounds of workers: what they would do by themselves, they have done by then."""

from collections.abc import Collection
from datetime import datetime
from functools import partial

from django.db.models import QuerySet

from config.leases.models import WorkerRun
from tests.waiting import until

# The first one seen may be the end of a round that began before; the second one ends a whole one.
WHOLE_ROUND = 2


def wait_for_a_round(runs: type[WorkerRun], *, but: Collection[int] = ()) -> None:
    """Wait until each run at work, but for these, has swept and claimed from beginning to end.

    A run says that it is there at the beginning of each sweep. A worker that only just starts may have no run yet,
    and one that lost its connection begins a new one: both are waited for.
    """
    rows = runs._default_manager.filter(lost_at=None).exclude(number__in=but).values_list("number", "seen_at")
    for _ in range(WHOLE_ROUND):
        before = until(lambda: dict(rows.all()), what="a run at work")
        until(partial(_are_all_newer, rows, before), what="a round of each run")


def _are_all_newer(rows: "QuerySet[WorkerRun, tuple[int, datetime]]", before: dict[int, datetime]) -> bool:
    now = dict(rows.all())
    return bool(now) and all(seen_at != before.get(number) for number, seen_at in now.items())

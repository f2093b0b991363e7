"""Waits for whole rounds of workers, after which they have done all work that they do by themselves."""

from collections.abc import Collection
from datetime import datetime
from functools import partial

from django.db.models import QuerySet

from config.leases.runs import WorkerRun
from tests.waiting import until

# The first sweep that is seen may end a round that began earlier. The second ends a whole round.
WHOLE_ROUND = 2


def wait_for_a_round(runs: type[WorkerRun], *, but: Collection[int] = ()) -> None:
    """Wait until each run at work, except those in `but`, has swept and claimed from beginning to end.

    A run renews its row at the beginning of each sweep. A worker that is just starting may have no run yet. A worker
    that lost its connection begins a new run. This waits for both.
    """
    rows = runs._default_manager.filter(lost_at=None).exclude(number__in=but).values_list("number", "seen_at")
    for _ in range(WHOLE_ROUND):
        before = until(lambda: dict(rows.all()), what="a run at work")
        until(partial(_are_all_newer, rows, before), what="a round of each run")


def _are_all_newer(rows: "QuerySet[WorkerRun, tuple[int, datetime]]", before: dict[int, datetime]) -> bool:
    now = dict(rows.all())
    return bool(now) and all(seen_at != before.get(number) for number, seen_at in now.items())

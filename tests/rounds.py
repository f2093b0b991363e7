"""Whole rounds of workers: what they would do by themselves, they have done by then."""

from collections.abc import Collection

from config.leases.models import WorkerRun
from tests.waiting import until

# The first one seen may be the end of a round that began before; the second one ends a whole one.
WHOLE_ROUND = 2


def wait_for_a_round(runs: type[WorkerRun], *, but: Collection[int] = ()) -> None:
    """Wait until each run at work, but for these, has swept and claimed from beginning to end.

    A run says that it is there at the beginning of each sweep.
    """
    rows = runs._default_manager.filter(lost_at=None).exclude(number__in=but)
    for _ in range(WHOLE_ROUND):
        _wait_until_seen_again(runs, dict(rows.values_list("number", "seen_at")))


def _wait_until_seen_again(runs: type[WorkerRun], before: dict[int, object]) -> None:
    assert before, "no run is at work"
    rows = runs._default_manager.filter(number__in=before).values_list("number", "seen_at")
    until(lambda: all(seen_at != before[number] for number, seen_at in rows.all()), what="a round of each run")

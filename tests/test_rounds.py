"""Waiting for whole rounds also works for a worker that is just starting."""

from functools import partial
from typing import Any

import pytest
from django.utils.timezone import now

from tests import rounds
from tests.parallel import at_once
from tests.rounds import WHOLE_ROUND, wait_for_a_round
from tests.waiting import until
from webhooks.models import DispatcherRun

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_round_of_a_worker_that_has_no_run_yet_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[str] = []

    def note_and_wait(look: Any, *, what: str) -> object:
        waits.append(what)
        return until(look, what=what)

    def work() -> None:
        until(lambda: waits, what="somebody who waits")
        DispatcherRun.objects.create(number=1, started_at=now(), seen_at=now())
        for number in range(1, WHOLE_ROUND + 1):
            until(partial(_has_waited, waits, 2 * number), what="a wait for the next sweep")
            DispatcherRun.objects.update(seen_at=now())

    monkeypatch.setattr(rounds, "until", note_and_wait)
    at_once(lambda number: wait_for_a_round(DispatcherRun) if number else work(), times=2)
    assert waits == ["a run at work", "a round of each run"] * WHOLE_ROUND


def _has_waited(waits: list[str], times: int) -> bool:
    return len(waits) == times

"""While nothing is under way a round rests: a move wakes it, and a look finds what no wake-up has told of."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from broadcasts.models import Broadcast
from broadcasts.services import progress as round_module
from broadcasts.services.moving import schedule_broadcast
from broadcasts.services.progress import PreparationLoop, run_preparation
from tests.broadcasts.services.making import a_contact, scheduled, templated
from tests.tenants import Tenant
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)
# More than the looks that nobody has asked for: the first one, and that of a listener that has just come.
MOVES = 4
HOUR = timedelta(hours=1)


@contextmanager
def a_round_at_work() -> Iterator[None]:
    """A round in a thread, as the task runs it."""
    ending = threading.Event()

    def run() -> None:
        try:
            run_preparation(should_stop=ending.is_set)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        try:
            yield
        finally:
            ending.set()
            running.result()


def has_begun(broadcast: Broadcast) -> bool:
    broadcast.refresh_from_db()
    return broadcast.started_at is not None


def test_a_move_wakes_a_round_that_would_look_in_an_hour(a: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_module, "REST_SECONDS", HOUR.total_seconds())
    monkeypatch.setattr(round_module, "LOOK_SECONDS", HOUR.total_seconds())
    a_contact(a, "+491511")
    message = templated(a)
    with a_round_at_work():
        for _ in range(MOVES):
            one = scheduled(a, message=message, status="Draft", due_at=None)
            schedule_broadcast(broadcast=one, now=now(), by=SYSTEM)
            until(partial(has_begun, one), what="the beginning of the broadcast")


def test_work_whose_wake_up_was_lost_is_found(a: Tenant) -> None:
    a_contact(a, "+491511")
    later = scheduled(a, message=templated(a), due_at=now() + HOUR)
    with a_round_at_work():
        Broadcast.objects.filter(pk=later.pk).update(due_at=now())
        until(lambda: has_begun(later), what="the beginning of the broadcast")


def test_a_round_without_work_looks_with_one_statement(a: Tenant, django_assert_num_queries: Any) -> None:
    a_contact(a, "+491511")
    later = scheduled(a, message=templated(a), due_at=now() + HOUR)
    current = PreparationLoop()
    for _ in range(2):
        with django_assert_num_queries(1):
            current.look()
    Broadcast.objects.filter(pk=later.pk).update(due_at=now())
    current.look()
    assert has_begun(later)

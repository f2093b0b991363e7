"""A process of the pool ends at once when its worker ends, and not for any other reason."""

import os
from collections.abc import Iterator

import pytest
from celery import signals

from config.celery.stopping import stopping

LEFT, WENT_ON = 3, 4


@pytest.fixture(autouse=True)
def _nothing_stops() -> Iterator[None]:
    yield
    stopping.clear()  # shared with the process that has set it


@pytest.mark.parametrize(("worker_ends", "status"), [(True, LEFT), (False, WENT_ON)])
def test_a_process_of_the_pool_leaves_as_soon_as_its_worker_ends(worker_ends: bool, status: int) -> None:
    pid = os.fork()
    if pid == 0:
        if worker_ends:
            signals.worker_shutting_down.send(sender="worker")
        signals.worker_process_shutdown.send(sender="worker", pid=os.getpid(), exitcode=LEFT)
        os._exit(WENT_ON)  # where the pool would sleep
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == status

"""When the loop may rest."""

import threading
from collections.abc import Iterator

import pytest

from tests.waiting import until
from webhooks.dispatcher.loop import TICK_SECONDS, Dispatcher


@pytest.fixture
def dispatcher() -> Iterator[Dispatcher]:
    dispatcher = Dispatcher()
    yield dispatcher
    dispatcher.attempts.close()
    dispatcher.sender.close()


def test_the_loop_does_not_rest_while_the_claimer_waits_for_it(dispatcher: Dispatcher) -> None:
    """The wake-up that came with the question may have been used up by what came before."""
    assert dispatcher._wait_seconds(is_held=False) == TICK_SECONDS
    asking = threading.Thread(target=dispatcher.demand.ask)
    asking.start()
    until(lambda: dispatcher.demand.is_asked)
    assert dispatcher._wait_seconds(is_held=False) == 0.0
    dispatcher.demand.close()
    asking.join()

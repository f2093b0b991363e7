"""When the loop may rest."""

import threading
from collections.abc import Iterator

import pytest

from tests.webhooks.delivering import until
from webhooks.courier.shift import TICK_SECONDS, Courier


@pytest.fixture
def courier() -> Iterator[Courier]:
    courier = Courier()
    yield courier
    courier.departures.close()
    courier.sender.close()


def test_the_loop_does_not_rest_while_the_clerk_waits_for_it(courier: Courier) -> None:
    """The ring that came with the question may have been used up by what came before."""
    assert courier._leisure(is_held=False) == TICK_SECONDS
    asking = threading.Thread(target=courier.demand.ask)
    asking.start()
    until(lambda: courier.demand.is_asked)
    assert courier._leisure(is_held=False) == 0.0
    courier.demand.close()
    asking.join()

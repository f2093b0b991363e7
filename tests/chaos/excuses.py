"""What a fault excuses: that what came before it, and was not written down when it struck, comes once more."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from django.db import Error, connection

from tests.chaos.receiver.arrivals import Arrivals
from tests.chaos.receiver.server import Receiver
from webhooks.models import Delivery, DispatcherRun

# So long is waited for the database to answer, and for the dispatchers to notice what a fault did to them.
LONGEST_SECONDS = 30.0
TICK_SECONDS = 0.05
Pair = tuple[int, str]
Found = TypeVar("Found")


class Excuses:
    """`found` is how many arrivals of an envelope at an endpoint may be followed by one more each.

    The database is asked some time after the fault. By then a dispatcher may have sent again what was lost, and
    recorded it. So what came again since a fault began is excused, as well as what is not recorded. `numbers` has the
    endpoints of the database, `rest` lets time pass.
    """

    def __init__(self, arrivals: Arrivals, receiver: Receiver, rest: Callable[[float], None]) -> None:
        self.found: dict[Pair, int] = {}
        self.numbers: dict[int, int] = {}
        self._arrivals = arrivals
        self._receiver = receiver
        self._rest = rest

    @contextmanager
    def of_a_fault(self, *, breaks_connections: bool = False) -> Iterator[None]:
        """Excuse what the fault of this block makes come again.

        A fault that breaks all connections ends each dispatcher's run, but not at once: until it has noticed, it sends
        what it has, though the database may have lost that it was claimed.
        """
        began, runs = time.monotonic(), _runs_at_work() if breaks_connections else set()
        yield
        connection.close()
        self.add(since=began, runs=runs)

    def add(self, *, since: float, runs: set[int] | None = None) -> None:
        """Excuse what came up to now for the sake of a fault that began then, once these runs send no more."""
        ended = self._as_soon_as_it_answers(self.ended)
        if runs:
            self._wait_until_none_is_at_work(runs)
        self._receiver.take_in()
        for pair, arrival in self._arrivals.found.copy().items():
            times = len(arrival.came_at)
            if pair not in ended:
                self._allow(pair, times)
            elif arrival.came_at[-1] >= since:
                self._allow(pair, times - 1)  # all but the last, which is written down

    def _allow(self, pair: Pair, times: int) -> None:
        if times > self.found.get(pair, 0):
            self.found[pair] = times

    def ended(self) -> set[Pair]:
        """The envelopes at their endpoints that the product's database knows as ended."""
        rows = Delivery.objects.exclude(status="pending").values_list("endpoint_id", "envelope_id")
        return {(self.numbers[pk], str(envelope)) for pk, envelope in rows.iterator() if pk in self.numbers}

    def _wait_until_none_is_at_work(self, runs: set[int]) -> None:
        until = time.monotonic() + LONGEST_SECONDS
        while self._as_soon_as_it_answers(_runs_at_work) & runs and time.monotonic() < until:
            self._rest(TICK_SECONDS)

    def _as_soon_as_it_answers(self, look: "Callable[[], set[Found]]") -> "set[Found]":
        """Give what the database answers; nothing where it does not in time, and then there is more to complain of."""
        until = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < until:
            with suppress(Error):
                return look()
            connection.close()
            self._rest(TICK_SECONDS)
        return set()


def _runs_at_work() -> set[int]:
    """The dispatchers' runs that may send; one that says that it ends sends no more."""
    return set(DispatcherRun.objects.filter(lost_at=None, is_ending=False).values_list("number", flat=True))

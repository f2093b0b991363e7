"""The thread that finds work: fans out events and leases deliveries."""

from collections.abc import Callable

from config.leases.claimer import Claimer, Demand
from config.leases.connection import Connection
from webhooks.dispatcher import queries
from webhooks.dispatcher.queries import Capacity, EndpointSnapshot, LeasedDelivery


class DeliveryClaimer(Claimer[Capacity]):
    """`deliver` gets every batch of leased deliveries, with the endpoints to know for it."""

    name = "dispatcher claimer"
    longest_attempt_seconds = 10.5  # ten seconds, and a margin

    def __init__(
        self,
        run: int,
        demand: Demand[Capacity],
        deliver: Callable[[list[LeasedDelivery], list[EndpointSnapshot]], None],
    ) -> None:
        super().__init__(run, queries.RUNS, demand)
        self.deliver = deliver
        self._known: set[int] = set()

    def add_new_work(self, connection: Connection) -> bool:
        return queries.fan_out(connection) == queries.FAN_OUT_BATCH

    def sweep(self, connection: Connection) -> None:
        queries.get_ready(connection)
        self._pass_on(connection, [])

    def claim(self, connection: Connection, capacity: Capacity) -> int:
        leased = queries.claim(connection, run=self.run, capacity=capacity)
        if leased:
            self._pass_on(connection, leased)
        return len(leased)

    def _pass_on(self, connection: Connection, leased: list[LeasedDelivery]) -> None:
        """Pass on a batch with endpoints as they are now: read after the claim, so never older than an event of it."""
        unknown = {row.endpoint_id for row in leased} - self._known
        snapshots = queries.endpoint_snapshots(connection, unknown=unknown)
        self._known |= unknown
        if leased or snapshots:
            self.deliver(leased, snapshots)

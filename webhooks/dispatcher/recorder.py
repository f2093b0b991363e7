"""The recorder thread, which writes results in batches."""

import logging
from collections import Counter
from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

import psycopg

from config.http.error_codes import FAILED
from config.leases.connections import Connection
from config.leases.recorder import Recorder
from config.metrics import count, observe
from webhooks.dispatcher import queries
from webhooks.dispatcher.outcomes import SUCCESS, AttemptResult, columns
from webhooks.dispatcher.queries import LeasedDelivery
from webhooks.services.queueing import AGENCY_SUSPENDED

logger = logging.getLogger(__name__)


class Unwanted(NamedTuple):
    """A delivery that is not sent, with the reason. If its agency is suspended, it is held, else it fails."""

    row: LeasedDelivery
    error: str


class DeliveryRecorder(Recorder[AttemptResult, LeasedDelivery, Unwanted]):
    """Records attempts, fails deliveries of disabled endpoints, and holds deliveries of suspended agencies."""

    name = "dispatcher recorder"

    def record(self, connection: Connection, results: Sequence[AttemptResult]) -> int:
        began = monotonic()
        recorded = queries.record(connection, run=self.run, columns=columns(results))
        observe("dispatcher_record_seconds", monotonic() - began)
        for error, attempts in Counter(one.result.error for one in results).items():
            count("webhook_attempts_total", attempts, error or SUCCESS)
        return recorded

    def reject(self, connection: Connection, result: AttemptResult, fault: psycopg.Error) -> None:
        delivery = result.row.id
        logger.error("an attempt cannot be recorded", extra={"delivery": delivery, "fault": type(fault).__name__})
        queries.abandon(connection, run=self.run, ids=[delivery], error=FAILED)

    def give_back(self, connection: Connection, unused: Sequence[LeasedDelivery]) -> None:
        queries.give_back(connection, run=self.run, ids=[row.id for row in unused])

    def abandon(self, connection: Connection, unwanted: Sequence[Unwanted]) -> None:
        for error in {one.error for one in unwanted}:
            ids = [one.row.id for one in unwanted if one.error == error]
            if error == AGENCY_SUSPENDED:
                queries.hold(connection, run=self.run, ids=ids)
            else:
                queries.abandon(connection, run=self.run, ids=ids, error=error)

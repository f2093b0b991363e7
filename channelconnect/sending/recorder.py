"""The thread that records messages' results in batches."""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import monotonic

import psycopg
from django.db import connection as project

from channelconnect.providers.messages import CallResult, Outcome
from channelconnect.providers.messages.outgoing import READ
from channelconnect.sending.consequences import draw_consequences
from channelconnect.sending.sources import ClaimedMessage, MessageSource, Sent, is_urgent
from channelconnect.sending.transactions import prepare_session
from channelconnect.sending.uploads import forget_lost_files
from config.leases.connections import Connection
from config.leases.recorder import Recorder
from config.metrics import count, observe

logger = logging.getLogger(__name__)


class MessageRecorder(Recorder[Sent, ClaimedMessage, ClaimedMessage]):
    """Passes results to their sources, and applies their effects on channels and people."""

    name = "sender recorder"

    def __init__(self, run: int, sources: Mapping[str, MessageSource], on_urgent: Callable[[], None]) -> None:
        super().__init__(run)
        self._sources = sources
        self._on_urgent = on_urgent

    def on_connect(self, connection: Connection) -> None:
        prepare_session(connection)

    def _disconnect(self) -> None:
        super()._disconnect()
        project.close()

    def record(self, connection: Connection, results: Sequence[Sent]) -> int:
        began = monotonic()
        # This comes before the results, because a recorded message is not looked at again. Doing it twice changes
        # nothing.
        forget_lost_files(results)
        results = draw_consequences(results)
        by_source: dict[str, list[Sent]] = defaultdict(list)
        for one in results:
            by_source[one.row.source].append(one)
        recorded = sum(
            self._sources[name].record(connection, run=self.run, results=ones) for name, ones in by_source.items()
        )
        observe("sender_record_seconds", monotonic() - began)
        for result, messages in Counter(_results_of_messages(results)).items():
            count("messages_sent_total", messages, result.value)
        if any(is_urgent(self._sources[name]) for name in by_source):
            self._on_urgent()  # the conversation's next message may be sent now
        return recorded

    def reject(self, connection: Connection, result: Sent, fault: psycopg.Error) -> None:
        """Record an accepted message without an id that cannot be stored; any other result becomes unknown."""
        logger.error("a result cannot be recorded", extra={"row": result.row.id, "fault": type(fault).__name__})
        outcome = result.outcome
        bare = Outcome(outcome.result) if outcome.result is CallResult.ACCEPTED else Outcome(CallResult.UNKNOWN)
        try:
            source = self._sources[result.row.source]
            source.record(connection, run=self.run, results=[result._replace(outcome=bare)])
        except (psycopg.DataError, psycopg.IntegrityError):
            logger.exception("a message stays claimed until it is taken for unknown")

    def give_back(self, connection: Connection, unused: Sequence[ClaimedMessage]) -> None:
        for name in {row.source for row in unused}:
            ids = [row.id for row in unused if row.source == name]
            self._sources[name].give_back(connection, run=self.run, ids=ids)

    def abandon(self, connection: Connection, unwanted: Sequence[ClaimedMessage]) -> None:
        """Do nothing: every message that ends has a result."""


def _results_of_messages(results: Iterable[Sent]) -> Iterator[CallResult]:
    return (one.outcome.result for one in results if one.row.message.type != READ)

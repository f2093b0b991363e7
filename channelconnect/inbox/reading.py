"""Reads notices in batches: parses them, finds their channels, and applies their facts."""

import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import psycopg
from django.db import connection, transaction

from channelconnect.inbox import claims
from channelconnect.inbox.channels import channels_of
from channelconnect.inbox.claims import Body, Reading
from channelconnect.inbox.handlers import FactHandler, FactsInTheWay, apply_facts, fact_handlers, gathered
from channelconnect.providers.graph.parsing import Row
from channelconnect.providers.notices import (
    Fact,
    Source,
    Unknown,
    UnreadableNotices,
    accounts_in,
    notice_of,
    read_notice,
)
from config.db import database_now
from config.garbage_collection import rare_collections
from config.metrics import count
from config.postgresql.concurrency import RETRYABLE_SQLSTATES, retry_on_conflict, sqlstate

logger = logging.getLogger(__name__)

# States of a transaction that met others: serialization failure, deadlock, lock timeout, cancelled statement.
PASSING: Final = RETRYABLE_SQLSTATES | {"55P03", "57014"}
TIMES: Final = 3
LOOK_BACK_SECONDS: Final = 5.0


def registered() -> Iterable[FactHandler]:
    return fact_handlers


class Reader:
    """Reads on from its position. Several readers, in as many processes, share the inbox."""

    def __init__(self, handlers: Callable[[], Iterable[FactHandler]] = registered) -> None:
        self._handlers = handlers
        self._after = 0
        self._looked_back_at: float | None = None
        self._is_idle = False

    def read_round(self) -> int:
        """Read a batch of new notices, and batches of those that failed before. Returns how many notices were found.

        Notices before the reader's position may be left: another reader rolled back, or they were committed late. They
        are found once nothing newer is left, and every few seconds. After a round without notices the next round only
        checks whether there are any.
        """
        if self._is_idle and not claims.is_anything_waiting():
            return 0
        self._look_back()
        done = self._read_new()
        for begin in (claims.begin_again, claims.begin_alone):
            reading = begin()
            if reading:
                done += self._read(reading)
        self._is_idle = not done
        return done

    def _look_back(self) -> None:
        now = time.monotonic()
        if self._looked_back_at is None or now - self._looked_back_at > LOOK_BACK_SECONDS:
            self._looked_back_at, self._after = now, 0
            claims.bury_the_dead()

    def _read_new(self) -> int:
        reading = claims.begin_new(after=self._after)
        if reading is None and self._after:
            self._after = 0
            reading = claims.begin_new(after=0)
        if reading is None:
            return 0
        self._after = reading.notices[-1]
        return self._read(reading)

    def _read(self, reading: Reading) -> int:
        """Read notices together. A failure concerns only these notices, and the rest of the inbox goes on."""
        try:
            retry_on_conflict(partial(self._read_together, reading), times=TIMES, states=PASSING)
        except Exception as error:  # handlers of any app may raise anything
            if not connection.is_usable():
                raise  # the database is away; the notices are not at fault
            _give_back(reading, error, isinstance(error, FactsInTheWay) or sqlstate(error) in PASSING)
        return len(reading.notices)

    @transaction.atomic
    def _read_together(self, reading: Reading) -> None:
        now = database_now()
        bodies = claims.take(reading, now=now)
        notices, faults = _parsed(bodies)
        claims.mark_unreadable(faults)
        channels = channels_of({account for _, notice in notices for account in accounts_in(notice)})
        facts = gathered(
            fact for body, notice in notices for fact in read_notice(notice, Source(channels, body.received_at))
        )
        ids = {channel.id for channel in channels.values()}
        apply_facts(facts, handlers=self._handlers(), channels=ids, now=now)
        _count(facts)


def _parsed(bodies: list[Body]) -> tuple[list[tuple[Body, Row]], dict[int, str]]:
    notices, faults = [], {}
    for body in bodies:
        try:
            notices.append((body, notice_of(body.content)))
        except UnreadableNotices as error:
            faults[body.id] = str(error)
    return notices, faults


def _count(facts: dict[type, list[Fact]]) -> None:
    """Count facts by type. The log names the kinds that no parser knows or that concern no account of ours."""
    for kind, found in facts.items():
        count("callback_facts_total", len(found), label=kind.__name__)
    unknown = Counter(fact.kind for fact in facts.get(Unknown, ()) if isinstance(fact, Unknown))
    if unknown:
        logger.info("provider notices of other kinds", extra={"kinds": dict(unknown.most_common(20))})


def _give_back(reading: Reading, error: Exception, is_passing: bool) -> None:
    """End a failed reading. The log says what broke and where, but quotes no error: it may hold a message."""
    cause = error.__cause__ if isinstance(error.__cause__, psycopg.Error) else error
    state = f" {cause.sqlstate}" if isinstance(cause, psycopg.Error) and cause.sqlstate else ""
    fault = f"{type(cause).__name__}{state}"
    trace = "".join(traceback.format_tb(error.__traceback__)[-6:])
    told = {"fault": fault, "notices": len(reading.notices), "first": reading.notices[0], "trace": trace}
    logger.log(logging.INFO if is_passing else logging.ERROR, "a reading of provider notices failed", extra=told)
    claims.give_back(reading, fault=fault, is_passing=is_passing)


def read_waiting(*, seconds: float = 30.0, handlers: Callable[[], Iterable[FactHandler]] = registered) -> int:
    """Read until nothing is due, or for `seconds`. Returns how many notices were found."""
    reader, until, done = Reader(handlers), time.monotonic() + seconds, 0
    with rare_collections():
        while time.monotonic() < until:
            found = reader.read_round()
            done += found
            if not found:
                break
    return done

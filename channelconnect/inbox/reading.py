"""Reads callbacks in batches: parses them, finds their channels, and applies their facts by type."""

import logging
import threading
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol

import psycopg
from django.db import connection, transaction

from channelconnect.inbox import claims
from channelconnect.inbox.claims import WAKE_UP, Body, ReadBatch
from channelconnect.providers.notices.events import AccountKey, Channels, ReadContext, Unknown, accounts_in
from channelconnect.providers.notices.parsing import Fact, UnreadableNotices, notice_of, read_notice
from channelconnect.providers.parsing import Row
from config.db import database_now
from config.garbage_collection import rare_collections
from config.hooks import Registry
from config.leases.claimer import WakeUpListener
from config.metrics import count
from config.postgresql.concurrency import RETRYABLE_SQLSTATES, retry_on_conflict, sqlstate
from workspaces.conversations.facts import ChannelReference

# A disconnected channel accepts no more callbacks. A channel in error does, as long as the provider sends them.
FIND = """
SELECT channel.id, channel.platform, channel.external_id, workspace.id, workspace.uuid, workspace.agency_id,
    workspace.timezone
FROM unnest(%s::text[], %s::text[]) AS wanted (platform, external_id)
JOIN subaccounts_channel AS channel ON channel.platform = wanted.platform
    AND channel.external_id = wanted.external_id AND channel.status <> 'disconnected'
JOIN subaccounts_workspace AS workspace ON workspace.id = channel.workspace_id
"""


def channels_of(accounts: Collection[AccountKey]) -> Channels:
    """Return the connected channels of these accounts."""
    if not accounts:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(FIND, [[platform for platform, _ in accounts], [external_id for _, external_id in accounts]])
        return {
            (platform, external_id): ChannelReference(
                id=key,
                platform=platform,
                workspace_id=workspace_id,
                workspace_uuid=workspace_uuid,
                agency_id=agency_id,
                timezone=timezone,
            )
            for key, platform, external_id, workspace_id, workspace_uuid, agency_id, timezone in cursor.fetchall()
        }


class FactsLocked(Exception):
    """Other transactions hold rows that these facts need. The same reading may succeed in a moment."""


class Apply(Protocol):
    """Applies any number of facts inside the caller's transaction. A fact that comes again has no further effect."""

    def __call__(self, facts: Sequence[Any], /, *, now: datetime) -> object: ...


Lock = Callable[[Collection[int]], object]


@dataclass(frozen=True, slots=True)
class FactHandler:
    """Handles facts of one type. `kind` is exactly that type, without subclasses; `owner` is the app of the handler.

    An outgoing message carries an `opaque` id made by its owner. Facts about ids that begin with a handler's `opaque`
    go to that handler alone. Handlers without `opaque` get all other facts of their kind.

    `lock` is called with the ids of all channels in the batch, before any fact is applied. Its locks keep two readers
    from a deadlock. Handlers that share a `lock` call it once.
    """

    kind: type
    apply: Apply
    lock: Lock | None = None
    owner: str = ""
    opaque: str = ""

    @property
    def name(self) -> str:
        return f"{self.owner}.{self.kind.__name__}" if self.owner else self.kind.__name__


# Types of facts are applied in the registry's order: a person's identity before their messages, a message before its
# changes, and messages before the marks of how far they were read. A type without a handler is ignored.
fact_handlers = Registry[FactHandler](
    "handlers of facts",
    called=(
        "`apply_facts` calls the locks and then `apply` of each, in the order of the apps, for each batch of callbacks"
    ),
    transaction="the caller's, one for each batch",
    failure="rolls the batch back; its callbacks are read again in smaller batches, at last each alone",
)


def group_by_type(facts: Iterable[Fact]) -> dict[type, list[Fact]]:
    """Group facts by type, each group in the facts' order."""
    by_type: defaultdict[type, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_type[type(fact)].append(fact)
    return by_type


def apply_facts(
    facts: dict[type, list[Fact]], *, handlers: Iterable[FactHandler], channels: Collection[int], now: datetime
) -> None:
    """Take each lock that the handlers of these facts need once, then apply the facts in the handlers' order."""
    everybody = list(handlers)
    needed = [(one, found) for one in everybody if (found := _facts_of(one, facts.get(one.kind), everybody))]
    for lock in dict.fromkeys(handler.lock for handler, _ in needed if handler.lock):
        lock(channels)
    for handler, found in needed:
        handler.apply(found, now=now)


def _facts_of(handler: FactHandler, facts: list[Any] | None, everybody: Iterable[FactHandler]) -> list[Fact] | None:
    """Return the facts that belong to this handler. Facts of a kind with an `opaque` handler have an `opaque` id."""
    if not facts:
        return None
    if handler.opaque:
        return [fact for fact in facts if fact.opaque.startswith(handler.opaque)]
    taken = tuple(one.opaque for one in everybody if one.kind is handler.kind and one.opaque)
    if not taken:
        return facts
    return [fact for fact in facts if not fact.opaque.startswith(taken)]


logger = logging.getLogger(__name__)

# States of a transaction that met others: serialization failure, deadlock, lock timeout, cancelled statement.
TRANSIENT_SQLSTATES: Final = RETRYABLE_SQLSTATES | {"55P03", "57014"}
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
            claims.end_abandoned_readings()

    def _read_new(self) -> int:
        reading = claims.begin_new(after=self._after)
        if reading is None and self._after:
            self._after = 0
            reading = claims.begin_new(after=0)
        if reading is None:
            return 0
        self._after = reading.notices[-1]
        return self._read(reading)

    def _read(self, reading: ReadBatch) -> int:
        """Read notices together. A failure concerns only these notices, and the rest of the inbox goes on."""
        try:
            retry_on_conflict(partial(self._read_together, reading), times=TIMES, states=TRANSIENT_SQLSTATES)
        except Exception as error:  # handlers of any app may raise anything
            if not connection.is_usable():
                raise  # the database is away; the notices are not at fault
            _give_back(reading, error, isinstance(error, FactsLocked) or sqlstate(error) in TRANSIENT_SQLSTATES)
        return len(reading.notices)

    @transaction.atomic
    def _read_together(self, reading: ReadBatch) -> None:
        now = database_now()
        bodies = claims.mark_read(reading, now=now)
        notices, faults = _parsed(bodies)
        claims.mark_unreadable(faults)
        channels = channels_of({account for _, notice in notices for account in accounts_in(notice)})
        facts = group_by_type(
            fact for body, notice in notices for fact in read_notice(notice, ReadContext(channels, body.received_at))
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


def _give_back(reading: ReadBatch, error: Exception, is_passing: bool) -> None:
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


# The web process wakes the loop for new callbacks, and the loop looks by itself once a second.

IDLE_SECONDS: Final = 1.0


def run_reader(*, should_stop: Callable[[], bool], idle_seconds: float = IDLE_SECONDS) -> None:
    """Read callbacks until `should_stop`."""
    woken, reader = threading.Event(), Reader()
    listener = WakeUpListener(WAKE_UP, woken.set)
    listener.thread.start()
    try:
        with rare_collections():
            while not should_stop():
                woken.clear()
                if not reader.read_round():
                    woken.wait(idle_seconds)
    finally:
        listener.stop()

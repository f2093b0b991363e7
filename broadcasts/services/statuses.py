"""Merges facts about broadcasts' messages into one update for each recipient, and applies the updates."""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

from django.db import connection
from django.db.backends.utils import CursorWrapper
from psycopg.rows import TupleRow

from agency.actors import SYSTEM
from broadcasts import events
from broadcasts.models import Broadcast, Recipient
from broadcasts.models.recipients import parse_callback_data
from broadcasts.services import status_statements
from broadcasts.services.costs import Billed, add_billed, category_of
from broadcasts.services.counts import add_counts, release_allowance
from broadcasts.services.markets import market_of
from broadcasts.services.moving import pause_for_fault
from broadcasts.services.recipient_events import record_recipient_events
from channelconnect.inbox.reading import FactsLocked
from channelconnect.providers.message_results import ERRORS, CallResult, SendError, sentence_of
from config.metrics import count
from config.postgresql.arrays import booleans, integers, texts, timestamps
from workspaces.contacts.services.opt_outs import MarketingChoice, apply_marketing_choices
from workspaces.conversations.facts import EchoReceived, ReadUpTo, StatusChanged, storable
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import mark_channel_lost

logger = logging.getLogger(__name__)

Status = Recipient.Status
RANKS: Final = {"sent": 1, "failed": 2, "delivered": 3, "read": 4}
LONGEST_ID, LONGEST_CODE, LONGEST_ERROR, LONGEST_CATEGORY = 200, 60, 1_000, 40
# A row that another transaction changes is tried again. The last try locks the rows, so that no other can.
MOST_ATTEMPTS: Final = 20
Key = tuple[int, int]
Fact = TypeVar("Fact", StatusChanged, EchoReceived)


class StatusUpdate:
    """A batch's update of one recipient's status."""

    __slots__ = (
        "billed_at",
        "category",
        "code",
        "delivered_at",
        "failed_at",
        "is_billable",
        "message",
        "message_id",
        "rank",
        "read_at",
        "sent_at",
    )

    def __init__(self) -> None:
        self.rank = 0
        self.sent_at: datetime | None = None
        self.delivered_at: datetime | None = None
        self.read_at: datetime | None = None
        self.failed_at: datetime | None = None
        self.code: str | None = None
        self.message: str | None = None
        self.message_id = ""
        self.billed_at: datetime | None = None
        self.is_billable: bool | None = None
        self.category = ""

    def take(self, status: str, at: datetime) -> None:
        """Add a status. The highest counts, with the first time of each; a read message is also delivered."""
        rank = RANKS.get(status, 0)
        self.rank = max(self.rank, rank)
        if rank == 1:
            self.sent_at = at if self.sent_at is None else min(self.sent_at, at)
        elif rank >= RANKS["delivered"]:
            self.delivered_at = at if self.delivered_at is None else min(self.delivered_at, at)
            if rank == RANKS["read"]:
                self.read_at = at if self.read_at is None else min(self.read_at, at)
        elif rank:
            self.failed_at = self.failed_at or at

    def take_fact(self, fact: StatusChanged) -> None:
        self.take(fact.status, fact.at)
        self.message_id = self.message_id or fact.message_id
        if fact.status == "failed":
            self.code = self.code or fact.error_code or "message_refused"
            self.message = self.message or fact.error_message
        elif fact.is_billable is not None and fact.status != "sent" and self.is_billable is None:
            self.is_billable, self.category, self.billed_at = fact.is_billable, fact.category, fact.at

    def take_echo(self, fact: EchoReceived) -> None:
        self.take("sent", fact.at)
        self.message_id = self.message_id or fact.message_id


def record_statuses(facts: Sequence[StatusChanged], *, now: datetime) -> None:
    """Advance recipients by WhatsApp's statuses."""
    updates, channels = _updates_by_recipient(facts, StatusUpdate.take_fact)
    apply_status_updates(updates, channels, now=now)


def record_echoes(facts: Sequence[EchoReceived], *, now: datetime) -> None:
    """Mark recipients as sent by echoes from Messenger and Instagram, which carry the network's message id."""
    updates, channels = _updates_by_recipient(facts, StatusUpdate.take_echo)
    apply_status_updates(updates, channels, now=now)


def _updates_by_recipient(
    facts: Sequence[Fact], take: Callable[[StatusUpdate, Fact], None]
) -> tuple[dict[Key, StatusUpdate], dict[int, int]]:
    """Group facts by recipient, and return their broadcasts' channels.

    A fact from another channel is left out: others may write ids that look like ours.
    """
    keys = [parse_callback_data(fact.opaque) for fact in facts]
    channels = _channels({key[0] for key in keys if key})
    updates: dict[Key, StatusUpdate] = {}
    for key, fact in zip(keys, facts, strict=True):
        if key is None or channels.get(key[0]) != fact.channel.id:
            continue
        one = updates.get(key)
        if one is None:
            one = updates[key] = StatusUpdate()
        take(one, fact)
    return updates, channels


def _channels(broadcasts: Collection[int]) -> dict[int, int]:
    if not broadcasts:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(status_statements.CHANNELS, {"ids": integers(broadcasts)})
        return dict(cursor.fetchall())


def apply_status_updates(updates: Mapping[Key, StatusUpdate], channels: Mapping[int, int], *, now: datetime) -> None:
    """Write updates of recipients in the order of their keys; then the counts, bills and events of the changes.

    Raises `FactsLocked` if other transactions changed some rows first each time. No fact is lost, because the
    callback is read again.
    """
    if not updates:
        return
    keys = sorted(updates)
    values = _columns(keys, [updates[key] for key in keys])
    effects = Effects(channels)
    _lock_stopped(updates)
    with connection.cursor() as cursor:
        for is_last in (*[False] * (MOST_ATTEMPTS - 1), True):
            if is_last:
                cursor.execute(status_statements.LOCK, values)
            cursor.execute(status_statements.APPLY, values)
            missed = effects.take(cursor.fetchall())
            if not missed:
                break
        else:
            count("recipient_statuses_missed_total", missed)
            logger.warning("statuses of recipients were not applied yet", extra={"recipients": missed})
            raise FactsLocked
        effects.apply(cursor, {key: updates[key] for key in effects.failed}, now=now)


def _lock_stopped(updates: Mapping[Key, StatusUpdate]) -> None:
    """Lock the broadcasts that these updates may pause, before their recipients, as the sender does."""
    stopped = {broadcast for (broadcast, _), one in updates.items() if _stops(ERRORS.get(one.code or ""))}
    if stopped:
        list(Broadcast.objects.filter(pk__in=stopped).order_by("pk").select_for_update(no_key=True).values_list("pk"))


def _stops(error: SendError | None) -> bool:
    """Whether every other message would fail in the same way now."""
    return error is not None and error.result in (CallResult.STOPPED, CallResult.RECONNECT)


def _columns(keys: Sequence[Key], updates: Sequence[StatusUpdate]) -> dict[str, str]:
    categories = {name: category_of(storable(name)[:LONGEST_CATEGORY]) for name in {one.category for one in updates}}
    return {
        "broadcasts": integers([key[0] for key in keys]),
        "contacts": integers([key[1] for key in keys]),
        "ranks": integers([one.rank for one in updates]),
        "sent": _few_moments([one.sent_at for one in updates]),
        "delivered": _few_moments([one.delivered_at for one in updates]),
        "read": _few_moments([one.read_at for one in updates]),
        "failed": _few_moments([one.failed_at for one in updates]),
        "codes": texts([storable(one.code)[:LONGEST_CODE] if one.code else None for one in updates]),
        "messages": texts([storable(one.message)[:LONGEST_ERROR] if one.message else None for one in updates]),
        "ids": texts([storable(one.message_id)[:LONGEST_ID] or None for one in updates]),
        "billed": _few_moments([one.billed_at for one in updates]),
        "billable": booleans([one.is_billable for one in updates]),
        "categories": texts([categories[one.category] for one in updates]),
    }


def _few_moments(values: Iterable[datetime | None]) -> str:
    """Write times as `moments` does. A batch has few different times, so each is formatted once."""
    known: dict[datetime | None, str] = {None: "NULL"}
    return f"{{{','.join([known.get(value) or _written(known, value) for value in values])}}}"


def _written(known: dict[datetime | None, str], value: datetime | None) -> str:
    known[value] = value.isoformat() if value else "NULL"
    return known[value]


class Effects:
    """The effects of recipients' changes."""

    def __init__(self, channels: Mapping[int, int]) -> None:
        self.failed: list[Key] = []
        self._channels = channels
        self._changes: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self._billed: Counter[Billed] = Counter()
        self._returned: list[tuple[int, str | None]] = []

    def take(self, rows: Iterable[TupleRow]) -> int:
        """Add the changes of a statement. Returns how many rows another transaction changed first."""
        missed = 0
        for kind, broadcast, first, second, flag, number, contacts, addresses, month in rows:
            if kind == "all":
                missed += number
            elif kind == "billed":
                self._billed[Billed(broadcast, month, first, market_of(second or ""), flag)] += number
            else:
                missed -= number
                self._move(broadcast, first, second, number, was_held=flag)
                self.failed.extend((broadcast, contact) for contact in contacts or ())
                self._returned.extend((self._channels[broadcast], address) for address in addresses or ())
        return missed

    def _move(self, broadcast: int, was: str, becomes: str, number: int, *, was_held: bool) -> None:
        counts = self._changes[broadcast]
        counts[was] -= number
        counts[becomes] += number
        if was_held:
            counts["held"] -= number

    def apply(self, cursor: CursorWrapper, failed: Mapping[Key, StatusUpdate], *, now: datetime) -> None:
        release_allowance(cursor, self._returned)
        if failed:
            record_recipient_events(events.RECIPIENT_FAILED, sorted(failed), now=now)
            _apply_errors(failed, self._channels, now=now)
        add_billed(self._billed)
        add_counts(self._changes)


def _apply_errors(failed: Mapping[Key, StatusUpdate], channels: Mapping[int, int], *, now: datetime) -> None:
    """Apply errors' effects: pause broadcasts that would fail for all, mark lost channels, record opt-outs."""
    stopped: dict[str, set[int]] = defaultdict(set)
    lost: dict[int, str] = {}
    unwilling: list[MarketingChoice] = []
    outdated = _of_earlier_access(failed, channels)
    for (broadcast, contact), update in failed.items():
        error = ERRORS.get(update.code or "")
        if error is None or (broadcast, contact) in outdated:
            continue
        if _stops(error):
            stopped[sentence_of(error.code)].add(broadcast)
        if _loses_access(error):
            lost[channels[broadcast]] = error.code
        if error.opts_out:
            unwilling.append(MarketingChoice(contact, min(update.failed_at or now, now)))
    for reason, broadcasts in stopped.items():
        pause_for_fault(broadcasts, reason, now)
    _mark_lost(lost, now=now)
    apply_marketing_choices(choices=unwilling, now=now)


def _of_earlier_access(failed: Mapping[Key, StatusUpdate], channels: Mapping[int, int]) -> set[Key]:
    """Return the recipients refused with an access that was replaced since; they say nothing about the new access."""
    asked = [key for key, update in failed.items() if _loses_access(ERRORS.get(update.code or ""))]
    if not asked:
        return set()
    values = {
        "broadcasts": integers([key[0] for key in asked]),
        "contacts": integers([key[1] for key in asked]),
        "channels": integers([channels[key[0]] for key in asked]),
    }
    with connection.cursor() as cursor:
        cursor.execute(status_statements.BEFORE_CONNECTION, values)
        return set(cursor.fetchall())


def _loses_access(error: SendError | None) -> bool:
    return error is not None and error.result is CallResult.RECONNECT


def _mark_lost(codes: Mapping[int, str], *, now: datetime) -> None:
    if not codes:
        return
    for channel in Channel.objects.filter(pk__in=codes).select_related("workspace").order_by("pk"):
        mark_channel_lost(channel=channel, reason=f"send_refused_{codes[channel.pk]}", now=now, by=SYSTEM)


# Older broadcasts are not looked at. A person who wrote within a day of a broadcast reads it soon or never.
LOOK_BACK: Final = timedelta(days=7)


def read_up_to(facts: Sequence[ReadUpTo], *, now: datetime) -> None:
    """Advance recipients who have received or read their messages, in broadcasts of the last seven days."""
    asked = [fact for fact in facts if fact.person.external_id]
    if not asked:
        return
    since = now - LOOK_BACK
    with connection.cursor() as cursor:
        values: dict[str, str | datetime] = {
            "channels": integers([fact.channel.id for fact in asked]),
            "addresses": texts([storable(fact.person.external_id) for fact in asked]),
            "statuses": texts([fact.status for fact in asked]),
            "ids": texts([storable(fact.message_id) for fact in asked]),
            "at": timestamps([fact.at for fact in asked]),
            "since": since,
        }
        cursor.execute(status_statements.MARKS, values)
        marks = [row for row in cursor.fetchall() if row[3] is not None]
        if not marks:
            return
        channels, addresses, statuses, times = zip(*marks, strict=True)
        values = {
            "channels": integers(channels),
            "addresses": texts(addresses),
            "statuses": texts(statuses),
            "at": timestamps(times),
            "since": since,
        }
        cursor.execute(status_statements.PASSED, values)
        rows = cursor.fetchall()
    updates: dict[Key, StatusUpdate] = {}
    for broadcast, contact, status, at in rows:
        updates.setdefault((broadcast, contact), StatusUpdate()).take(status, at)
    apply_status_updates(updates, {}, now=now)

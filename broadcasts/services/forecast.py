"""The preview of a broadcast: audience counts that run in the background, and what an author should know."""

import hashlib
import logging
import time
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

import orjson
from django.db import OperationalError, connection, transaction
from django.db.models import F, QuerySet

from broadcasts.content import FrozenMessage
from broadcasts.models import AudienceForecast, Broadcast
from broadcasts.services.audience import end_of_chunk, last_contact_of
from broadcasts.services.audience_counting import (
    Allowance,
    AudienceCount,
    Counted,
    allowance_expiries,
    held_recipients_of_others,
)
from broadcasts.services.costs import billing_currency, estimate
from broadcasts.services.fields import with_settings
from broadcasts.services.markets import markets_of
from broadcasts.services.message_fields import WrittenMessage, write_message
from broadcasts.services.progress import freeze_message
from broadcasts.services.waves import Due, ForecastWave, Plan, within_limit, without_limit
from channelconnect.services.allowance_keys import WINDOW, keys_of
from config.db import TimeOrExpression, database_now
from config.errors import DomainError, FeatureDisabled
from workspaces.contacts.services import count_contacts
from workspaces.subaccounts.models import Workspace

logger = logging.getLogger(__name__)
# The number of contacts that a statement counts, which takes a fraction of a second.
SIZE: Final = 50_000
# A request counts for this long. The rest is counted in the background.
FIRST_SECONDS: Final = 0.6
# A piece that takes longer, on a busy or blocked database, is cancelled.
LONGEST_MS: Final = 3_000
# A completed count is reused for `KEPT`. An unfinished count is continued for `LONGEST` before a new one may start.
KEPT: Final = timedelta(minutes=1)
LONGEST: Final = timedelta(minutes=10)
# The number of a workspace's forecasts that are counted at once. Beyond it the oldest is given up.
MOST_UNFINISHED: Final = 3
MOST_TRIES: Final = 3
FORGET_AT_ONCE: Final = 500
COLUMNS: Final = (
    "channel_id", "type", "audience", "segment_id", "chosen_contacts", "source_broadcast_id", "retarget_engagement",
    "message", "fallbacks", "timezone_mode", "scheduled_at", "scheduled_local_at",
)  # fmt: skip


class ForecastUnavailable(FeatureDisabled):
    message = "Counting this audience takes too long at the moment. Try again in a minute."


@dataclass(frozen=True, slots=True)
class Counting:
    """The number of the workspace's contacts that were looked at so far."""

    walked: int
    total: int


@dataclass(frozen=True, slots=True)
class AudienceCountResult:
    """The known part of an audience. `counting` is its progress while the count is unfinished."""

    counted: Counted
    starts_at: datetime
    counting: Counting | None


def count_audience(draft: Broadcast, message: FrozenMessage, now: datetime) -> AudienceCountResult:
    """Count as much of an audience as a second allows. The background counts the rest, for a later call.

    Raises `ForecastUnavailable` if a piece takes too long, or if counting in the background failed several times.
    """
    draft = copy(draft)
    digest = _digest_of(draft)
    there = AudienceForecast.objects.filter(workspace_id=draft.workspace_id, digest=digest).first()
    if there is not None and _is_of_use(there, now):
        return _found_of(there)
    starts_at = max(now, draft.scheduled_at or now)
    counted, after, walked = Counted(), 0, 0
    draft.last_contact = last = last_contact_of(draft)
    audience, limit = AudienceCount(draft, message, starts_at), limit_of(draft, message)
    deadline = time.monotonic() + FIRST_SECONDS
    while after < last:
        up_to = end_of_chunk(draft, after=after, size=SIZE)
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(LONGEST_MS)])
                counted.add(audience.count(limit, now, after=after, up_to=up_to))
        except OperationalError as error:
            raise ForecastUnavailable from error
        after, walked = up_to, walked + SIZE
        if time.monotonic() > deadline:
            break
    if after >= last:
        return AudienceCountResult(counted, starts_at, None)
    begun = _begin(draft, digest, starts_at, counted, after=after, walked=walked, now=now)
    return AudienceCountResult(counted, starts_at, Counting(begun.walked, begun.total))


def count_further() -> bool:
    """Count the next piece of the forecast that has waited longest. Returns whether there was one."""
    run = _take()
    if run is None:
        return False
    try:
        _count_piece(run)
    except (DomainError, OperationalError):
        logger.warning("a forecast was not counted further", exc_info=True, extra={"forecast": run.pk})
    return True


def _count_piece(run: AudienceForecast) -> None:
    draft = _draft_of(run)
    up_to = end_of_chunk(draft, after=run.counted_up_to, size=SIZE)
    message, counted = freeze_message(draft), Counted.from_json(run.found)
    audience, limit = AudienceCount(draft, message, run.starts_at), limit_of(draft, message)
    counted.add(audience.count(limit, run.created_at, after=run.counted_up_to, up_to=up_to))
    is_last = up_to >= run.last_contact
    AudienceForecast.objects.filter(pk=run.pk, created_at=run.created_at, counted_up_to=run.counted_up_to).update(
        counted_up_to=up_to,
        walked=run.total if is_last else min(run.walked + SIZE, run.total),
        found=counted.as_json(),
        tries=0,
        completed_at=database_now() if is_last else None,
    )


def forget_forecasts() -> int:
    """Delete forecasts that are too old to be shown. Returns how many."""
    old = list(old_forecasts(database_now()).values_list("pk", flat=True)[:FORGET_AT_ONCE])
    return AudienceForecast.objects.filter(pk__in=old).delete()[0]


def unfinished_forecasts() -> "QuerySet[AudienceForecast]":
    """Return the forecasts that are not fully counted, those that have waited longest first."""
    return AudienceForecast.objects.filter(completed_at=None, tries__lt=MOST_TRIES).order_by("worked_at", "pk")


def old_forecasts(now: TimeOrExpression) -> "QuerySet[AudienceForecast]":
    """Return the forecasts that are too old to be shown, oldest first."""
    return AudienceForecast.objects.filter(created_at__lt=now - LONGEST).order_by("created_at")


def limit_of(draft: Broadcast, message: FrozenMessage) -> Allowance | None:
    """Return the allowance for a template's recipients. Free text goes into open windows, which need none."""
    if message.template is None:
        return None
    with connection.cursor() as cursor:
        key = keys_of(cursor, [draft.channel_id]).get(draft.channel_id)
    return Allowance(key.name, key.limit, WINDOW) if key is not None and key.limit is not None else None


def _is_of_use(run: AudienceForecast, now: datetime) -> bool:
    if run.completed_at is not None:
        return now - run.completed_at < KEPT
    return now - run.created_at < LONGEST


def _found_of(run: AudienceForecast) -> AudienceCountResult:
    if run.completed_at is None and run.tries >= MOST_TRIES:
        raise ForecastUnavailable
    counting = Counting(run.walked, run.total) if run.completed_at is None else None
    return AudienceCountResult(Counted.from_json(run.found), run.starts_at, counting)


@transaction.atomic
def _begin(
    draft: Broadcast, digest: str, starts_at: datetime, counted: Counted, *, after: int, walked: int, now: datetime
) -> AudienceForecast:
    total = _people_to_walk(draft)
    values = {
        "draft": _written(draft),
        "starts_at": starts_at,
        "counted_up_to": after,
        "last_contact": draft.last_contact,
        "walked": min(walked, total),
        "total": total,
        "found": counted.as_json(),
        "tries": 0,
        "created_at": now,
        "worked_at": now,
        "completed_at": None,
    }
    begun, _ = AudienceForecast.objects.update_or_create(
        workspace_id=draft.workspace_id, digest=digest, defaults=values
    )
    others = AudienceForecast.objects.filter(workspace_id=draft.workspace_id, completed_at=None)
    kept = others.order_by("-created_at", "-pk").values_list("pk", flat=True)[:MOST_UNFINISHED]
    others.exclude(pk__in=list(kept)).delete()
    return begun


def _take() -> AudienceForecast | None:
    """Take the forecast that has waited longest, and record the try before it begins."""
    run = unfinished_forecasts().select_related("workspace").first()
    if run is None:
        return None
    taken = AudienceForecast.objects.filter(pk=run.pk, created_at=run.created_at, tries=run.tries)
    return run if taken.update(tries=F("tries") + 1, worked_at=database_now()) else None


def _people_to_walk(draft: Broadcast) -> int:
    if draft.chosen_contacts is not None:
        return len(draft.chosen_contacts)
    if draft.source_broadcast is not None:
        return draft.source_broadcast.recipients_count
    return count_contacts(draft.workspace)


def _digest_of(draft: Broadcast) -> str:
    said = [_written(draft), draft.segment and draft.segment.filter, draft.workspace.timezone]
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _written(draft: Broadcast) -> dict[str, object]:
    written: dict[str, object] = {name: getattr(draft, name) for name in COLUMNS}
    return {**written, "scheduled_at": draft.scheduled_at.isoformat() if draft.scheduled_at else None}


def _draft_of(run: AudienceForecast) -> Broadcast:
    written = dict(run.draft)
    at = written.pop("scheduled_at")
    draft = Broadcast(**written, scheduled_at=datetime.fromisoformat(at) if at else None)
    draft.workspace, draft.last_contact = run.workspace, run.last_contact
    return draft


@dataclass(frozen=True, slots=True)
class Zone:
    """The number of recipients in a time zone, and their moment."""

    timezone: str
    count: int
    sends_at: datetime


@dataclass(frozen=True, slots=True)
class Cost:
    """The highest cost: each message is delivered, and none is free."""

    currency: str
    at_most: Decimal


@dataclass(frozen=True, slots=True)
class Preview:
    """A broadcast's preview. `recipients_count` is the whole audience; `zones` and `waves` leave out skipped contacts.

    `zones` is empty if all recipients have the same moment. `held_count` is how many wait for room in the allowance.
    `counting` says how far a very large audience is counted, and all other numbers are then of that part. None means
    that the whole audience is counted.

    `missing` counts the contacts without a value, by variable. `limit` is how many people the number may write to first
    in a day; None without a limit.
    """

    recipients_count: int
    skipped: Mapping[str, int]
    zones: list[Zone]
    waves: list[ForecastWave]
    held_count: int
    last_wave_at: datetime | None
    cost: Cost | None
    sample: list[str]
    counting: Counting | None
    missing: Mapping[str, int] = field(default_factory=dict)
    limit: int | None = None


def preview(workspace: Workspace, draft: Broadcast) -> Preview:
    """Return a broadcast's preview. The broadcast need not be saved, and nothing is written.

    Raises `BroadcastRefused` for a message that cannot be sent, and `ForecastUnavailable`.
    """
    now = database_now()
    written, message = write_message(draft.message, draft.channel), freeze_message(draft)
    found = count_audience(draft, message, now)
    counted = found.counted
    limit = limit_of(draft, message)
    plan = _plan(draft, counted, limit, now)
    return Preview(
        recipients_count=counted.total,
        skipped=dict(sorted(counted.skipped.items())),
        zones=_zones(counted),
        waves=plan.waves(),
        held_count=plan.held,
        last_wave_at=plan.last,
        cost=_cost(written, counted, found.starts_at),
        sample=[_text_of(written, message, workspace, values) for values in counted.sample],
        counting=found.counting,
        missing={name: number for name, number in counted.missing.items() if number},
        limit=limit.people if limit else None,
    )


def _plan(draft: Broadcast, counted: Counted, limit: Allowance | None, now: datetime) -> Plan:
    due = list(counted.ready.values())
    if limit is None:
        return without_limit(_by_moment(due))
    return within_limit(
        _by_moment(due),
        limit=limit.people,
        ends=allowance_expiries(limit, now),
        ahead=held_recipients_of_others(draft),
        window=limit.window,
    )


def _by_moment(due: list[Due]) -> list[Due]:
    found: dict[datetime, Due] = {}
    for one in due:
        before = found.get(one.at, Due(one.at, 0, 0))
        found[one.at] = Due(one.at, before.free + one.free, before.counted + one.counted)
    return list(found.values())


def _zones(counted: Counted) -> list[Zone]:
    sizes = {key: due.free + due.counted for key, due in counted.ready.items()}
    zones = [Zone(timezone, size, at) for (at, timezone), size in sizes.items() if timezone and size]
    return sorted(zones, key=lambda zone: (zone.sends_at, zone.timezone))


def _cost(written: WrittenMessage, counted: Counted, starts_at: datetime) -> Cost | None:
    if written.template is None:
        return None
    currency = billing_currency()
    at_most = estimate(markets_of(counted.prefixes), written.category, currency, starts_at.date())
    return None if at_most is None else Cost(currency, at_most)


def _text_of(written: WrittenMessage, message: FrozenMessage, workspace: Workspace, values: list[str] | None) -> str:
    """Return the text that a recipient would read, with the original addresses in place of tracked links."""
    shown = FrozenMessage(text=with_settings(written.shown, workspace), variables=message.variables)
    return shown.for_recipient(values)[0]

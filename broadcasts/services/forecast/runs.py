"""Counts the audience of a forecast: small ones within a second, large ones piece by piece in the background."""

import hashlib
import logging
import time
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from django.db import OperationalError, connection, transaction
from django.db.models import F, QuerySet

from broadcasts.content import FrozenMessage
from broadcasts.models import AudienceForecast, Broadcast
from broadcasts.services.audience.people import end_of_chunk, last_contact_of
from broadcasts.services.forecast.counting import AudienceCount, Counted, Limit
from broadcasts.services.progress.freezing import freeze_message
from channelconnect.services.allowance_keys import WINDOW, keys_of
from config.db import Moment, database_now
from config.errors import DomainError, Unavailable
from workspaces.contacts.services import count_contacts

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
    "message", "timezone_mode", "scheduled_at", "scheduled_local_at",
)  # fmt: skip


class ForecastUnavailable(Unavailable):
    message = "Counting this audience takes too long at the moment. Try again in a minute."


@dataclass(frozen=True, slots=True)
class Counting:
    """The number of the workspace's contacts that were looked at so far."""

    walked: int
    total: int


@dataclass(frozen=True, slots=True)
class Found:
    """The known part of an audience. `counting` is its progress while the count is unfinished."""

    counted: Counted
    starts_at: datetime
    counting: Counting | None


def count_audience(draft: Broadcast, message: FrozenMessage, now: datetime) -> Found:
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
        return Found(counted, starts_at, None)
    begun = _begin(draft, digest, starts_at, counted, after=after, walked=walked, now=now)
    return Found(counted, starts_at, Counting(begun.walked, begun.total))


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


def old_forecasts(now: Moment) -> "QuerySet[AudienceForecast]":
    """Return the forecasts that are too old to be shown, oldest first."""
    return AudienceForecast.objects.filter(created_at__lt=now - LONGEST).order_by("created_at")


def limit_of(draft: Broadcast, message: FrozenMessage) -> Limit | None:
    """Return the allowance for a template's recipients. Free text goes into open windows, which need none."""
    if message.template is None:
        return None
    with connection.cursor() as cursor:
        key = keys_of(cursor, [draft.channel_id]).get(draft.channel_id)
    return Limit(key.name, key.limit, WINDOW) if key is not None and key.limit is not None else None


def _is_of_use(run: AudienceForecast, now: datetime) -> bool:
    if run.completed_at is not None:
        return now - run.completed_at < KEPT
    return now - run.created_at < LONGEST


def _found_of(run: AudienceForecast) -> Found:
    if run.completed_at is None and run.tries >= MOST_TRIES:
        raise ForecastUnavailable
    counting = Counting(run.walked, run.total) if run.completed_at is None else None
    return Found(Counted.from_json(run.found), run.starts_at, counting)


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


def _written(draft: Broadcast) -> dict[str, Any]:
    written: dict[str, Any] = {name: getattr(draft, name) for name in COLUMNS}
    return {**written, "scheduled_at": draft.scheduled_at.isoformat() if draft.scheduled_at else None}


def _draft_of(run: AudienceForecast) -> Broadcast:
    written = dict(run.draft)
    at = written.pop("scheduled_at")
    draft = Broadcast(**written, scheduled_at=datetime.fromisoformat(at) if at else None)
    draft.workspace, draft.last_contact = run.workspace, run.last_contact
    return draft

"""Records facts about contacts that no message brings: added tags, birthdays, and long silence."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from typing import Final
from zoneinfo import ZoneInfo

from django.db import connection, transaction
from django.db.models import F

from config.db import name_key
from config.wall_clock import instant_of, known_zone
from workspaces.automations.models import Automation
from workspaces.automations.services.trigger_events import NewTriggerEvent, record_trigger_events
from workspaces.contacts.services.tag_handlers import AddedTags, ChangeCause
from workspaces.subaccounts.models import Workspace

TAG_ADDED: Final = "tag_added"
BIRTHDAY: Final = "birthday"
CONTACT_INACTIVE: Final = "contact_inactive"


def record_added_tags(
    workspace: Workspace, added: Sequence[AddedTags], now: datetime, cause: ChangeCause | None
) -> None:
    """Record the added tags with which an automation of the workspace starts, in the caller's transaction."""
    wanted = {name_key(str(config.get("tag", ""))) for config in _configs_on(workspace, TAG_ADDED)}
    if wanted:
        told = ((one.contact, key) for one in added for key in map(name_key, one.tags) if key in wanted)
        record_trigger_events([_tag_event(workspace, contact, key, now, cause) for contact, key in told])


def _configs_on(workspace: Workspace, trigger: str) -> list[dict[str, object]]:
    """Give the trigger configurations of the workspace's automations that are on with this trigger."""
    on = Automation.objects.filter(workspace=workspace, enabled=True, trigger=trigger)
    configs = on.annotate(starts_with=F("published__flow__trigger__config")).values_list("starts_with", flat=True)
    return [config if isinstance(config, dict) else {} for config in configs]


def _tag_event(
    workspace: Workspace, contact: int, key: str, now: datetime, cause: ChangeCause | None
) -> NewTriggerEvent:
    """Make the fact that a contact got a tag. A tag that is taken away and added again is another fact."""
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return NewTriggerEvent(
        workspace_id=workspace.pk,
        contact_id=contact,
        kind=TAG_ADDED,
        source_key=f"tag:{contact}:{digest}:{now.astimezone(UTC):%Y%m%d%H%M%S%f}",
        subject=key[:200],
        data={"by": cause.automation} if cause else None,
        depth=cause.depth + 1 if cause else 0,
        cause=cause.run if cause else None,
    )


# The contact's attribute with its birthday, such as 1990-05-17 or 05-17.
BIRTHDAY_ATTRIBUTE: Final = "birthday"
WRITTEN_BIRTHDAY: Final = re.compile(r"(?:(?:\d{4}|-)-)?(\d{2})-(\d{2})", re.ASCII)
# A birthday is a fact from this hour on, on the contact's clocks, so that a message about it wakes nobody up.
BIRTHDAY_HOUR: Final = time(9)
# Facts that are found later than this are dropped, such as those of the days on which an automation was off.
LATEST: Final = timedelta(hours=24)
PAGE_SIZE: Final = 5_000

# One page of a workspace's contacts, in the order of an index. Its last row is returned too, so that the walk goes on.
PAGE: Final = """
WITH page AS MATERIALIZED (
    SELECT id, timezone, attributes ->> %(attribute)s AS birthday, last_inbound_at, platforms, opted_out_at
    FROM contacts_contact WHERE workspace_id = %(workspace)s AND id > %(after)s ORDER BY id LIMIT %(size)s
), judged AS (
    SELECT id, timezone, birthday, last_inbound_at,
        opted_out_at IS NULL AND platforms && %(platforms)s::varchar[] AND (
            (%(has_birthdays)s AND right(birthday, 5) = ANY (%(days)s::text[]))
            OR EXISTS (SELECT FROM unnest(%(silences)s::integer[]) AS silence (days)
                WHERE last_inbound_at > %(now)s - (silence.days + 1) * interval '1 day'
                    AND last_inbound_at <= %(now)s - silence.days * interval '1 day')
        ) AS may_fit
    FROM page
)
SELECT id, timezone, birthday, last_inbound_at, coalesce(may_fit, false) FROM judged
WHERE may_fit OR id = (SELECT max(id) FROM page) ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class _Search:
    """What to look for in one workspace: birthdays, and silences of so many days."""

    workspace: int
    timezone: str
    platforms: frozenset[str]
    has_birthdays: bool
    silences: tuple[int, ...]


@dataclass(slots=True)
class DateWalk:
    """A walk over the contacts of all workspaces with an automation that starts with a date, page by page.

    The workspaces with which it begins differ from hour to hour. So if the time of a run is too short for all, every
    workspace still has its turn within a day.
    """

    now: datetime
    _searches: list[_Search] = field(init=False)
    _after: int = 0

    def __post_init__(self) -> None:
        found = list(_searches())
        first = len(found) * self.now.astimezone(UTC).hour // 24
        self._searches = [*found[first:], *found[:first]]

    def walk_page(self) -> bool:
        """Record the facts of the next page of contacts. Return whether there may be another page."""
        if not self._searches:
            return False
        search = self._searches[0]
        rows = _read_page(search, self._after, self.now)
        with transaction.atomic():
            record_trigger_events([event for row in rows if row[4] for event in _date_events(search, row, self.now)])
        self._after = rows[-1][0] if rows else 0
        if not rows:
            self._searches.pop(0)
        return bool(self._searches)


def _searches() -> Iterator[_Search]:
    on = Automation.objects.filter(enabled=True, trigger__in=(BIRTHDAY, CONTACT_INACTIVE))
    active = on.filter(workspace__status=Workspace.Status.ACTIVE).order_by("workspace_id")
    rows = active.values_list(
        "workspace_id", "workspace__timezone", "platform", "trigger", "published__flow__trigger__config__days"
    )
    for (workspace, zone), group in groupby(rows.iterator(), key=lambda row: row[:2]):
        triggers = list(group)
        days = {row[4] for row in triggers if row[3] == CONTACT_INACTIVE and isinstance(row[4], int)}
        yield _Search(
            workspace=workspace,
            timezone=zone,
            platforms=frozenset(row[2] for row in triggers),
            has_birthdays=any(row[3] == BIRTHDAY for row in triggers),
            silences=tuple(sorted(days)),
        )


# A contact's key, time zone, birthday as written, the time of its last message, and whether it may fit at all.
_Row = tuple[int, str | None, str | None, datetime | None, bool]


def _read_page(search: _Search, after: int, now: datetime) -> list[_Row]:
    today = now.astimezone(UTC).date()
    days = [f"{today + timedelta(days=number):%m-%d}" for number in (-2, -1, 0, 1)]
    with connection.cursor() as cursor:
        cursor.execute(
            PAGE,
            {
                "attribute": BIRTHDAY_ATTRIBUTE,
                "workspace": search.workspace,
                "after": after,
                "size": PAGE_SIZE,
                "platforms": list(search.platforms),
                "has_birthdays": search.has_birthdays,
                "days": [*days, "02-29"],
                "silences": list(search.silences),
                "now": now,
            },
        )
        found: list[_Row] = cursor.fetchall()
    return found


def _date_events(search: _Search, row: _Row, now: datetime) -> Iterator[NewTriggerEvent]:
    contact, zone, birthday, last_inbound_at, _ = row
    if search.has_birthdays and birthday:
        for day in birthdays_due(birthday, zone=zone, otherwise=search.timezone, now=now):
            yield _date_event(search, contact, BIRTHDAY, f"birthday:{contact}:{day.year}")
    for days in search.silences:
        if last_inbound_at and timedelta(0) <= now - last_inbound_at - timedelta(days=days) < LATEST:
            key = f"inactive:{contact}:{last_inbound_at.astimezone(UTC):%Y%m%d%H%M%S%f}:{days}"
            yield _date_event(search, contact, CONTACT_INACTIVE, key, subject=str(days))


def _date_event(search: _Search, contact: int, kind: str, key: str, subject: str = "") -> NewTriggerEvent:
    return NewTriggerEvent(search.workspace, contact, kind, key, subject=subject)


def birthdays_due(written: str, *, zone: str | None, otherwise: str, now: datetime) -> Iterable[date]:
    """Give the day whose birthday is due now: it began within 24 hours at 9 o'clock in the contact's time zone.

    `otherwise` is the workspace's zone, for a contact without one. In other years a birthday on 29 February is on
    28 February. A text that is no date gives none.
    """
    found = WRITTEN_BIRTHDAY.fullmatch(written.strip())
    if found is None:
        return []
    month, day = int(found[1]), int(found[2])
    today = now.astimezone(ZoneInfo(known_zone(zone, otherwise))).date()
    near = (today, today - timedelta(days=1))
    dates = {_date_in(year, month, day) for year in {one.year for one in near}}
    moments = {on: instant_of(datetime.combine(on, BIRTHDAY_HOUR), zone, otherwise) for on in near if on in dates}
    return [on for on, moment in moments.items() if moment <= now < moment + LATEST]


def _date_in(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return date(year, 2, 28) if (month, day) == (2, 29) else None

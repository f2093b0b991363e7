"""Clicks on tracked links: where one leads, that somebody followed it, and once for each recipient that it counts."""

import logging
import threading
import time
from collections import Counter, deque
from datetime import datetime
from typing import Final, NamedTuple

import orjson
from django.db import Error, connection, transaction

from broadcasts.content import FrozenMessage
from broadcasts.events import LINK_CLICKED
from broadcasts.models import Broadcast
from broadcasts.services.counts import add_counts
from broadcasts.services.events.recording import record_recipient_events
from broadcasts.services.tracking.links import Target, read_token, target_of

logger = logging.getLogger(__name__)

CACHE_SECONDS: Final = 30
MOST_CACHED: Final = 512
BATCH: Final = 5_000
# Clicks that wait in this process to be written down; more come together only while the database is away.
MOST_WAITING: Final = 50_000

# Written by hand: through the ORM this one row would cost more than all the rest of the answer.
VALUES = "SELECT values::text FROM broadcasts_recipient WHERE broadcast_id = %s AND contact_id = %s"
# Nobody waits for a disk on behalf of a click: a crash of PostgreSQL itself may forget those of its last half second.
RECORD = """
WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO broadcasts_click (broadcast_id, contact_id, link, clicked_at)
SELECT broadcast_id, contact_id, link, statement_timestamp()
FROM quick, unnest(%s::bigint[], %s::bigint[], %s::smallint[]) AS click (broadcast_id, contact_id, link)
"""
# Rows are locked in the order of their keys, as statuses lock them, so that nobody waits in a circle.
COUNT = """
WITH taken AS (
    DELETE FROM broadcasts_click WHERE id = ANY (ARRAY (
        SELECT id FROM broadcasts_click ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED))
    RETURNING broadcast_id, contact_id, clicked_at),
firsts AS (
    SELECT broadcast_id, contact_id, min(clicked_at) AS clicked_at FROM taken GROUP BY broadcast_id, contact_id),
locked AS (
    SELECT recipient.broadcast_id, recipient.contact_id, firsts.clicked_at
    FROM broadcasts_recipient recipient JOIN firsts USING (broadcast_id, contact_id)
    WHERE recipient.clicked_at IS NULL
    ORDER BY recipient.broadcast_id, recipient.contact_id FOR UPDATE OF recipient),
changed AS (
    UPDATE broadcasts_recipient recipient SET clicked_at = locked.clicked_at FROM locked
    WHERE recipient.broadcast_id = locked.broadcast_id AND recipient.contact_id = locked.contact_id
        AND recipient.clicked_at IS NULL
    RETURNING recipient.broadcast_id, recipient.contact_id)
SELECT (SELECT count(*) FROM taken), broadcast_id, contact_id FROM (SELECT) one LEFT JOIN changed ON true
"""


class FollowedLink(NamedTuple):
    """A link that somebody follows, and the address that it leads to."""

    link: Target
    address: str


class KeptLinks(NamedTuple):
    """What the links of a broadcast lead to, and the agencies on whose hosts they lead there."""

    frozen: FrozenMessage
    agencies: frozenset[int]


class FrozenLinks:
    """What the links of broadcasts lead to, as this process has read it.

    What sending was begun with never changes; only its removal has to be noticed, so it is read again after a while.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[float, KeptLinks | None]] = {}

    def of(self, broadcast: int) -> KeptLinks | None:
        """Give a broadcast's links; one statement unless it was looked up within seconds."""
        kept = self._kept.get(broadcast)
        if kept is None or kept[0] < time.monotonic():
            kept = time.monotonic() + CACHE_SECONDS, _read_frozen(broadcast)
            if len(self._kept) >= MOST_CACHED:
                self._kept.clear()
            self._kept[broadcast] = kept
        return kept[1]

    def remembered(self, broadcast: int) -> KeptLinks | None:
        """Give them where this process has them; it asks nobody."""
        kept = self._kept.get(broadcast)
        return kept[1] if kept and kept[0] >= time.monotonic() else None

    def clear(self) -> None:
        self._kept.clear()


frozen_links = FrozenLinks()


def _read_frozen(broadcast: int) -> KeptLinks | None:
    rows = Broadcast.objects.filter(pk=broadcast).select_related("workspace")
    columns = ("frozen", "started_at", "workspace__agency", "workspace__former_agencies")
    found = rows.only("workspace", *columns).first()
    if found is None or found.frozen is None or found.started_at is None:
        return None
    frozen = FrozenMessage(variables=tuple(found.frozen["variables"]), links=tuple(found.frozen["links"]))
    return KeptLinks(frozen, found.workspace.agencies_since(found.started_at))


def follow_link(token: str, *, host_agency: int | None) -> FollowedLink | None:
    """Find where a tracked link leads; None for a token that is not ours, or whose broadcast is gone.

    On a host of an agency (`host_agency`) only the links of its own workspaces lead anywhere, so that nobody's host
    leads to what others have written. At most one statement for a broadcast that was looked up within seconds, and
    none where no address of it has variables.
    """
    link = read_token(token)
    kept = frozen_links.of(link.broadcast_id) if link else None
    if link is None or kept is None or not _is_there(kept, host_agency):
        return None
    values = _values(link) if _has_variables(kept.frozen, link) else None
    address = target_of(kept.frozen, link.number, values)
    return FollowedLink(link, address) if address else None


def follow_link_at_once(token: str, *, host_agency: int | None) -> FollowedLink | None:
    """Find where a tracked link leads from this process's memory alone; None where that does not tell."""
    link = read_token(token)
    kept = frozen_links.remembered(link.broadcast_id) if link else None
    if link is None or kept is None or not _is_there(kept, host_agency) or _has_variables(kept.frozen, link):
        return None
    address = target_of(kept.frozen, link.number, None)
    return FollowedLink(link, address) if address else None


def _is_there(kept: KeptLinks, host_agency: int | None) -> bool:
    return host_agency is None or host_agency in kept.agencies


def _has_variables(frozen: FrozenMessage, link: Target) -> bool:
    return link.number < len(frozen.links) and "{{" in frozen.links[link.number]


def _values(link: Target) -> list[str] | None:
    with connection.cursor() as cursor:
        cursor.execute(VALUES, [link.broadcast_id, link.contact_id])
        row = cursor.fetchone()
    return orjson.loads(row[0]) if row and row[0] else None


class WaitingClicks:
    """Clicks whose answers have left, until a thread writes them down together: one thread, however slow that is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Target] = deque()
        self._has_recorder = False
        self._lost = 0

    def add(self, link: Target) -> bool:
        """Keep a click; says whether the caller has to have them written down, as nobody is about to do it."""
        with self._lock:
            if len(self._waiting) < MOST_WAITING:
                self._waiting.append(link)
            else:
                self._lost += 1
            must_record, self._has_recorder = not self._has_recorder, True
            return must_record

    def record(self) -> bool:
        """Write down all that wait; says whether some still do, because the database cannot be asked now.

        The caller that `add` has told to calls this until it gives False; nobody else is told to meanwhile.
        """
        while links := self._take():
            try:
                _insert(links)
            except Error as fault:
                self._put_back(links)
                connection.close_if_unusable_or_obsolete()
                logger.warning("clicks wait", extra={"clicks": len(self._waiting), "reason": type(fault).__name__})
                return True
        return False

    def _take(self) -> list[Target]:
        """Take a batch; when nothing waits, the next click finds that it needs somebody to write it down."""
        with self._lock:
            links = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            self._has_recorder = bool(links)
            lost, self._lost = self._lost, 0
        if lost:
            logger.warning("clicks were lost, too many waited", extra={"clicks": lost})
        return links

    def _put_back(self, links: list[Target]) -> None:
        with self._lock:
            self._waiting.extendleft(reversed(links))


waiting_clicks = WaitingClicks()


def record_clicks(links: list[Target]) -> None:
    """Write down that somebody followed links; it is counted soon. Without a database they are lost, no more."""
    try:
        _insert(links)
    except Error as fault:
        connection.close_if_unusable_or_obsolete()
        logger.warning("clicks could not be recorded", extra={"clicks": len(links), "reason": type(fault).__name__})


def _insert(links: list[Target]) -> None:
    broadcasts, contacts, numbers = zip(*links, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(RECORD, [list(broadcasts), list(contacts), list(numbers)])


@transaction.atomic
def count_clicks(*, now: datetime) -> int:
    """Count a batch of recorded clicks, the first of each recipient; says how many were taken."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [BATCH])
        rows = cursor.fetchall()
    firsts = [(broadcast, contact) for _, broadcast, contact in rows if broadcast is not None]
    if firsts:
        record_recipient_events(LINK_CLICKED, firsts, now=now)
        add_counts({key: {"clicked": number} for key, number in Counter(one for one, _ in firsts).items()})
    return int(rows[0][0])

"""Clicks on tracked links: where a link leads, the record of a click, and the count of one click for each recipient."""

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
from broadcasts.services.recipient_events import record_recipient_events
from broadcasts.services.tracked_links import LinkToken, read_token, target_of

logger = logging.getLogger(__name__)

CACHE_SECONDS: Final = 30
MOST_CACHED: Final = 512
BATCH: Final = 5_000
# Clicks that may wait in this process to be written. More come together only while the database is away.
MOST_WAITING: Final = 50_000

# Plain SQL: through the ORM this one row would cost more than the rest of the answer.
VALUES = "SELECT values::text FROM broadcasts_recipient WHERE broadcast_id = %s AND contact_id = %s"
# A click does not wait for the disk. A crash of PostgreSQL itself may lose the clicks of the last half second.
RECORD = """
WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO broadcasts_click (broadcast_id, contact_id, link, clicked_at)
SELECT broadcast_id, contact_id, link, statement_timestamp()
FROM quick, unnest(%s::bigint[], %s::bigint[], %s::smallint[]) AS click (broadcast_id, contact_id, link)
"""
# Rows are locked in the order of their keys, as statuses lock them, so that they cannot deadlock.
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
    """A link that a visitor follows, and its address."""

    link: LinkToken
    address: str


class CachedLinks(NamedTuple):
    """A broadcast's links, and the agencies on whose hosts they work."""

    frozen: FrozenMessage
    agencies: frozenset[int]

    def are_on(self, host_agency: int | None) -> bool:
        """Say whether they work on a host of this agency; None stands for the installation's own host."""
        return host_agency is None or host_agency in self.agencies


class LinkCache:
    """A cache of broadcasts' links in this process.

    A frozen message never changes, and a move only adds to the agencies. So what is kept is true, and what is not kept
    is read. It is read again after a while, to notice that its broadcast was removed.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[float, CachedLinks]] = {}

    def of(self, broadcast: int, host_agency: int | None) -> CachedLinks | None:
        """Return a broadcast's links if they work on this host, with one statement unless they are remembered."""
        found = self.remembered(broadcast, host_agency)
        if found is None:
            found = _read_frozen(broadcast)
            if found is not None:
                self._keep(broadcast, found)
        return found if found is not None and found.are_on(host_agency) else None

    def remembered(self, broadcast: int, host_agency: int | None) -> CachedLinks | None:
        """Return the links if this process knows without a query that they work on this host."""
        until, links = self._kept.get(broadcast, (0.0, None))
        return links if links is not None and until >= time.monotonic() and links.are_on(host_agency) else None

    def _keep(self, broadcast: int, links: CachedLinks) -> None:
        if len(self._kept) >= MOST_CACHED:
            self._kept.clear()
        self._kept[broadcast] = time.monotonic() + CACHE_SECONDS, links

    def clear(self) -> None:
        self._kept.clear()


link_cache = LinkCache()


def _read_frozen(broadcast: int) -> CachedLinks | None:
    rows = Broadcast.objects.filter(pk=broadcast).select_related("workspace")
    columns = ("frozen", "started_at", "workspace__agency", "workspace__former_agencies")
    found = rows.only("workspace", *columns).first()
    if found is None or found.frozen is None or found.started_at is None:
        return None
    frozen = FrozenMessage(variables=tuple(found.frozen["variables"]), links=tuple(found.frozen["links"]))
    return CachedLinks(frozen, found.workspace.agencies_since(found.started_at))


def follow_link(token: str, *, host_agency: int | None) -> FollowedLink | None:
    """Return where a tracked link leads; None for an invalid token or a broadcast that is gone.

    On an agency's host (`host_agency`) only links of its own workspaces work, so that no host leads to addresses that
    others have written. For a broadcast that was looked up within seconds it costs one statement at most, and none if
    the address has no variables.
    """
    link = read_token(token)
    kept = link_cache.of(link.broadcast_id, host_agency) if link else None
    if link is None or kept is None:
        return None
    values = _values(link) if _has_variables(kept.frozen, link) else None
    address = target_of(kept.frozen, link.number, values)
    return FollowedLink(link, address) if address else None


def follow_link_at_once(token: str, *, host_agency: int | None) -> FollowedLink | None:
    """Return where a tracked link leads, from this process's memory alone; None if memory does not tell."""
    link = read_token(token)
    kept = link_cache.remembered(link.broadcast_id, host_agency) if link else None
    if link is None or kept is None or _has_variables(kept.frozen, link):
        return None
    address = target_of(kept.frozen, link.number, None)
    return FollowedLink(link, address) if address else None


def _has_variables(frozen: FrozenMessage, link: LinkToken) -> bool:
    return link.number < len(frozen.links) and "{{" in frozen.links[link.number]


def _values(link: LinkToken) -> list[str] | None:
    with connection.cursor() as cursor:
        cursor.execute(VALUES, [link.broadcast_id, link.contact_id])
        row = cursor.fetchone()
    return orjson.loads(row[0]) if row and row[0] else None


class WaitingClicks:
    """Clicks that wait, after their answers, for a thread to write them together. Only one thread does so."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[LinkToken] = deque()
        self._has_recorder = False
        self._lost = 0

    def add(self, link: LinkToken) -> bool:
        """Keep a click. Returns whether the caller must have the clicks written, because no thread is going to."""
        with self._lock:
            if len(self._waiting) < MOST_WAITING:
                self._waiting.append(link)
            else:
                self._lost += 1
            must_record, self._has_recorder = not self._has_recorder, True
            return must_record

    def record(self) -> bool:
        """Write all waiting clicks. Returns True if some still wait because the database is away.

        A caller for whom `add` returned True calls this until it returns False. Until then `add` returns False to all
        others.
        """
        # As before a request: the thread's connection may have ended since it was last used.
        connection.close_if_unusable_or_obsolete()
        while links := self._take():
            try:
                _insert(links)
            except Error as fault:
                self._put_back(links)
                connection.close_if_unusable_or_obsolete()
                logger.warning("clicks wait", extra={"clicks": len(self._waiting), "reason": type(fault).__name__})
                return True
        return False

    def _take(self) -> list[LinkToken]:
        """Take a batch. If it is empty, the next call of `add` returns True."""
        with self._lock:
            links = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            self._has_recorder = bool(links)
            lost, self._lost = self._lost, 0
        if lost:
            logger.warning("clicks were lost, too many waited", extra={"clicks": lost})
        return links

    def _put_back(self, links: list[LinkToken]) -> None:
        with self._lock:
            self._waiting.extendleft(reversed(links))


waiting_clicks = WaitingClicks()


def record_clicks(links: list[LinkToken]) -> None:
    """Record clicks, which are counted soon. Without a database they are lost, and the answer is not affected."""
    try:
        _insert(links)
    except Error as fault:
        connection.close_if_unusable_or_obsolete()
        logger.warning("clicks could not be recorded", extra={"clicks": len(links), "reason": type(fault).__name__})


def _insert(links: list[LinkToken]) -> None:
    broadcasts, contacts, numbers = zip(*links, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(RECORD, [list(broadcasts), list(contacts), list(numbers)])


@transaction.atomic
def count_clicks(*, now: datetime) -> int:
    """Count a batch of recorded clicks, the first of each recipient. Returns how many were taken."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [BATCH])
        rows = cursor.fetchall()
    firsts = [(broadcast, contact) for _, broadcast, contact in rows if broadcast is not None]
    if firsts:
        record_recipient_events(LINK_CLICKED, firsts, now=now)
        add_counts({key: {"clicked": number} for key, number in Counter(one for one, _ in firsts).items()})
    return int(rows[0][0])

"""Reads calendars of other programs side by side, and replaces the busy times of each in one transaction."""

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import record_notification
from agency.tenants import Audience
from config.db import database_now
from config.encryption import UnreadableSecret
from config.http import error_codes
from config.http.client import HTTPClient
from config.http.guard import Target, URLRefused, check_addresses, check_without_lookup, parse_target
from config.http.resolver import LookupFailed, Resolver
from config.http.transfer import Limits, Request, Result
from workspaces.appointments.models import ExternalBusy, ExternalCalendar, WorkingHours
from workspaces.appointments.services.external_calendars import due_calendars
from workspaces.subaccounts.services import tenant_of

READ_AT_ONCE: Final = 8
MOST_BYTES: Final = 5 * 1024 * 1024
LIMITS: Final = Limits(
    total_ms=10_000, connect_ms=5_000, answer_bytes=MOST_BYTES + 65_536, kept_body_bytes=MOST_BYTES + 1
)
LOOKUP_SECONDS: Final = 3.0
FETCH_SECONDS: Final = 12.0
EVERY: Final = timedelta(minutes=15)
LONGEST_WAIT: Final = timedelta(hours=6)
# A reading that has not ended by then died with its process.
LEASE: Final = timedelta(minutes=5)
MOST_TRIES: Final = 5
HORIZON: Final = timedelta(days=400)
PAST: Final = timedelta(days=1)
NOT_MODIFIED: Final = 304
USER_AGENT: Final = "Calendars/1.0"
LONGEST_ETAG: Final = 200
PROGRAM: Final = Path(__file__).with_name("calendar_program.py")
CPU_SECONDS: Final = 4
PROGRAM_SECONDS: Final = 8.0
# The exit codes of `calendar_program`, which is not imported here because it imports its libraries at once.
REFUSALS: Final = {3: "not_a_calendar", 4: "wrong_encoding", 5: "too_many_events", 6: "recurrence_refused"}
NOTIFIED_AFTER: Final = timedelta(days=1)
UNREAD: Final = "external_calendar.unread"
NOTIFICATION_KINDS: Final = (
    NotificationKind(
        name=UNREAD,
        label=_("A staff member's calendar cannot be read"),
        text=_("The calendar %(calendar)s of %(staff)s has not been read for a day, so its newest events are missing."),
        url_name="app:staff",
        audience=Audience.WORKSPACE,
    ),
)


class CalendarFault(Exception):
    """A calendar could not be read. `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Fetched(NamedTuple):
    """What a server answered. `body` is None if the content has not changed."""

    body: bytes | None
    etag: str


class Content(NamedTuple):
    """The busy times of a calendar, or None if the content is the one that was read before."""

    busy: list[DateTimeTZRange] | None
    etag: str
    digest: bytes | None


def read_next_calendars(*, limits: Limits = LIMITS) -> bool:
    """Read the calendars that are due, a bounded number at once. Says whether there were any."""
    calendars = _claim()
    for calendar in calendars:
        if calendar.tries > MOST_TRIES:
            _record_failure(calendar, "reading_died")
    for calendar, fetched in _fetch([one for one in calendars if one.tries <= MOST_TRIES], limits):
        _read(calendar, fetched)
    return bool(calendars)


@transaction.atomic
def _claim() -> list[ExternalCalendar]:
    """Take the calendars that are due. Each try is counted before it begins. Those of deleted staff are removed."""
    now = database_now()
    due_calendars(now).filter(staff__deleted_at__isnull=False).delete()
    rows = due_calendars(now).select_for_update(skip_locked=True, no_key=True, of=("self",))
    keys = [row.pk for row in rows.only("pk")[:READ_AT_ONCE]]
    ExternalCalendar.objects.filter(pk__in=keys).update(due_at=now + LEASE, tries=F("tries") + 1)
    return list(ExternalCalendar.objects.filter(pk__in=keys).select_related("staff__workspace").order_by("id"))


def _read(calendar: ExternalCalendar, fetched: Fetched | CalendarFault) -> None:
    if isinstance(fetched, CalendarFault):
        _record_failure(calendar, fetched.code)
        return
    try:
        content = _content_of(calendar, fetched)
    except CalendarFault as fault:
        _record_failure(calendar, fault.code)
    else:
        _record_content(calendar, content)


# Fetching ------------------------------------------------------------------------------------------------------------


def _fetch(
    calendars: Sequence[ExternalCalendar], limits: Limits
) -> Iterator[tuple[ExternalCalendar, Fetched | CalendarFault]]:
    """Fetch calendars side by side, and yield each as soon as it is there. A slow host delays no other."""
    by_key = {calendar.pk: calendar for calendar in calendars}
    client = HTTPClient(limits=limits, most_connections=READ_AT_ONCE)
    resolver = Resolver()
    try:
        for calendar, asked in [(calendar, _look_up(calendar, resolver)) for calendar in calendars]:
            try:
                client.submit(_request(calendar, asked))
            except CalendarFault as fault:
                yield by_key.pop(calendar.pk), fault
        until = time.monotonic() + FETCH_SECONDS
        while client.in_flight and time.monotonic() < until:
            for result in client.poll(0.2):
                yield by_key.pop(result.key), _answer(result)
    finally:
        client.close()
        resolver.close()
    for calendar in by_key.values():
        yield calendar, CalendarFault(error_codes.TIMEOUT)


class _Lookup(NamedTuple):
    target: Target
    addresses: "Future[tuple[str, ...]] | None"


def _look_up(calendar: ExternalCalendar, resolver: Resolver) -> _Lookup | CalendarFault:
    try:
        target = parse_target(calendar.address)
        vetted = check_without_lookup(target, allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
    except URLRefused:
        return CalendarFault(error_codes.BLOCKED_ADDRESS)
    except UnreadableSecret:
        return CalendarFault("unreadable_address")
    return _Lookup(target, None if vetted else resolver.submit(target.host))


def _request(calendar: ExternalCalendar, asked: _Lookup | CalendarFault) -> Request:
    """Make the request to the addresses that were looked up. Raises `CalendarFault`."""
    if isinstance(asked, CalendarFault):
        raise asked
    allowed, target = settings.WEBHOOK_ALLOWED_NETWORKS, asked.target
    try:
        own = () if asked.addresses else (target.address or "",)
        addresses = asked.addresses.result(LOOKUP_SECONDS) if asked.addresses else own
        vetted = check_addresses(target, addresses, allowed=allowed)
    except URLRefused:
        raise CalendarFault(error_codes.BLOCKED_ADDRESS) from None
    except (LookupFailed, TimeoutError):
        raise CalendarFault(error_codes.DNS) from None
    headers = [("Accept", "text/calendar, */*;q=0.1"), ("User-Agent", USER_AGENT)]
    if calendar.etag and _is_content_fresh(calendar):
        headers.append(("If-None-Match", calendar.etag))
    return Request(calendar.pk, vetted, tuple(headers), b"", method="GET")


def _is_content_fresh(calendar: ExternalCalendar) -> bool:
    """Say whether the content was read today. The busy times must reach as far ahead as on each day before."""
    return calendar.read_at is not None and calendar.read_at.date() == database_now().date() and not calendar.failure


def _answer(result: Result) -> Fetched | CalendarFault:
    if result.status == NOT_MODIFIED:
        return Fetched(None, "")
    if result.cut or len(result.response_body) > MOST_BYTES:
        return CalendarFault(error_codes.TOO_LARGE)
    if result.error:
        return CalendarFault(result.error)
    named = (value for name, value in result.response_headers if name.lower() == "etag")
    etag = next(named, "")
    is_kept = len(etag) <= LONGEST_ETAG and etag.isascii() and etag.isprintable()
    return Fetched(result.response_body, etag if is_kept else "")


# Parsing -------------------------------------------------------------------------------------------------------------


def _content_of(calendar: ExternalCalendar, fetched: Fetched) -> Content:
    """Read the busy times from what was fetched. Raises `CalendarFault`."""
    if fetched.body is None:
        return Content(None, calendar.etag, None)
    digest = hashlib.sha256(fetched.body).digest()
    known = bytes(calendar.content_digest) if calendar.content_digest else None
    if digest == known and _is_content_fresh(calendar):
        return Content(None, fetched.etag, digest)
    now = database_now()
    return Content(read_busy(fetched.body, zone=_zone_of(calendar), now=now), fetched.etag, digest)


def read_busy(data: bytes, *, zone: str, now: datetime, cpu_seconds: int = CPU_SECONDS) -> list[DateTimeTZRange]:
    """Return the busy times of an ICS file from yesterday to 400 days ahead. Raises `CalendarFault`.

    A program of its own reads the file, in bounded time and memory.
    """
    first, last = now - PAST, now + HORIZON
    bounds = [str(int(first.timestamp())), str(int(last.timestamp()))]
    program = [sys.executable, "-I", str(PROGRAM), str(cpu_seconds), *bounds, zone]
    try:
        done = subprocess.run(program, input=data, capture_output=True, env={}, timeout=PROGRAM_SECONDS)  # noqa: S603  # ours
    except subprocess.TimeoutExpired:
        raise CalendarFault("too_much_work") from None
    if done.returncode:
        raise CalendarFault(REFUSALS.get(done.returncode, "too_much_work"))
    pairs: list[tuple[int, int]] = json.loads(done.stdout)
    return [
        DateTimeTZRange(datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC), "[)")
        for start, end in pairs
        if start < end
    ]


def _zone_of(calendar: ExternalCalendar) -> str:
    hours = WorkingHours.objects.filter(staff=calendar.staff_id).first()
    return hours.timezone if hours else calendar.staff.workspace.timezone


# Recording -----------------------------------------------------------------------------------------------------------


@transaction.atomic
def _record_content(calendar: ExternalCalendar, content: Content) -> None:
    """Replace the busy times, and plan the next reading. A calendar that was removed meanwhile stays removed."""
    locked = ExternalCalendar.objects.select_for_update(no_key=True).filter(pk=calendar.pk).first()
    if locked is None:
        return
    if content.busy is not None:
        locked.busy_times.all().delete()
        ExternalBusy.objects.bulk_create(
            ExternalBusy(calendar=locked, staff_id=locked.staff_id, during=during) for during in content.busy
        )
        locked.content_digest = content.digest
    now = database_now()
    locked.etag, locked.read_at, locked.due_at = content.etag, now, now + EVERY
    locked.tries, locked.failure, locked.failing_since = 0, "", None
    locked.save(update_fields=["content_digest", "etag", "read_at", "due_at", "tries", "failure", "failing_since"])


@transaction.atomic
def _record_failure(calendar: ExternalCalendar, code: str) -> None:
    """Keep the busy times that there are, and wait longer the longer it fails. Notify people after a day."""
    locked = ExternalCalendar.objects.select_for_update(no_key=True).filter(pk=calendar.pk).first()
    if locked is None:
        return
    now = database_now()
    locked.failing_since = locked.failing_since or now
    failing = now - locked.failing_since
    locked.failure, locked.tries = code, 0
    locked.due_at = now + min(max(failing, EVERY), LONGEST_WAIT)
    locked.save(update_fields=["failing_since", "failure", "tries", "due_at"])
    if failing >= NOTIFIED_AFTER:
        record_notification(
            tenant=tenant_of(calendar.staff.workspace),
            kind=UNREAD,
            key=f"{locked.uuid}:{locked.failing_since.isoformat()}",
            now=now,
            data={"calendar": locked.name, "staff": calendar.staff.name},
        )

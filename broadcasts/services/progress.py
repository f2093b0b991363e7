"""Runs broadcasts beside the sender: begins them, prepares their recipients in turn, and completes them."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import DatabaseError, connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_noop

from agency.actors import SYSTEM
from agency.models import Agency
from agency.services.hosts import base_urls_of
from broadcasts import events
from broadcasts.content import FrozenMessage, variables_in
from broadcasts.models import Broadcast
from broadcasts.services.audience import audience_filter, last_contact_of
from broadcasts.services.fields import check_variables, with_settings
from broadcasts.services.listing import joined
from broadcasts.services.message_fields import write_message
from broadcasts.services.moving import (
    BROKE_OFF,
    cancelled_broadcasts,
    complete_broadcasts,
    pause_for_fault,
    prepared_broadcasts,
    skip_next_cancelled,
)
from broadcasts.services.moving import SWEEP as WAKE_UP
from broadcasts.services.notifications import notify_of_pause
from broadcasts.services.preparation_tries import BEGINNING
from broadcasts.services.preparation_turns import PreparationTurns, unprepared_broadcasts
from broadcasts.services.recipient_events import record_broadcast_change
from broadcasts.services.tracked_links import with_tracked_links
from channelconnect.services.template_checks import find_template
from config.celery.tasks import DueWork, due_among, in_batches
from config.db import TimeOrExpression, database_now
from config.errors import InvalidInput
from config.leases.claimer import WakeUpListener
from config.recovery.identity import is_confirmed
from config.tries.counting import next_rows, run_alone
from workspaces.subaccounts.models import Channel, Workspace

OF_RECIPIENTS = ("contact", "fields")


def freeze_message(broadcast: Broadcast) -> FrozenMessage:
    """Return the message as it is sent from now on.

    Raises `BroadcastRefused` if it can no longer be sent: its template is no longer approved, for example, or a setting
    of the workspace that it names has no value.
    """
    message = broadcast.message
    for part in ("text", "components", "header"):
        check_variables(f"message.{part}", message.get(part), broadcast.workspace)
    written = write_message(message, broadcast.channel)
    text, template = (
        with_settings(written.text, broadcast.workspace),
        with_settings(written.template, broadcast.workspace),
    )
    links: list[str] = []
    if message.get("track_clicks", True):
        ours = base_urls_of(broadcast.workspace.agency_id)
        text, template, links = with_tracked_links(
            text, template, approved=_approved_components(broadcast), base_urls=ours
        )
    variables = _variables(variables_in((text, template or {}, links)))
    fallbacks = {name: broadcast.fallbacks[name] for name in variables if name in broadcast.fallbacks}
    return FrozenMessage(text, template, variables, links, fallbacks)


def _variables(found: Iterable[str]) -> list[str]:
    """Return the contacts' variables, each once; those of links are left out."""
    return [name for name in dict.fromkeys(found) if name.partition(".")[0] in OF_RECIPIENTS]


def _approved_components(broadcast: Broadcast) -> list[object]:
    name, language = broadcast.message.get("template"), broadcast.message.get("language")
    if not name:
        return []
    template = find_template(broadcast.channel, name, str(language).replace("-", "_"))
    return list(template.components) if template else []


BATCH: Final = 50
NO_SEGMENT: Final = "The segment that it goes to was removed. Cancel it, and make another one."
NOT_CONNECTED: Final = gettext_noop("The channel is not connected. Reconnect it, then resume.")
Status = Broadcast.Status
Work = Callable[..., bool]


def begin_due_broadcasts(*, now: datetime, batch: int = BATCH) -> int:
    """Begin due broadcasts, each in its own transaction. Returns how many.

    A broadcast that waits for approval stays scheduled and begins afterwards. So does a broadcast of a suspended
    workspace or agency.
    """
    due = next_rows(due_broadcasts(now).only("pk"), kind=BEGINNING, most=batch)
    return sum(_run_counted(begin_broadcast, _give_up_beginning, one.pk, now) for one in due)


def _run_counted(work: Work, give_up: Work, broadcast: int, now: datetime) -> bool:
    return run_alone(
        partial(work, broadcast=broadcast, now=now),
        kind=BEGINNING,
        key=broadcast,
        give_up=partial(give_up, broadcast=broadcast, now=now),
        otherwise=False,
    )


def due_broadcasts(now: TimeOrExpression) -> "QuerySet[Broadcast]":
    """Return the broadcasts that begin now, in their order."""
    scheduled = Broadcast.objects.filter(status=Status.SCHEDULED, due_at__lte=now)
    return scheduled.filter(
        Q(requires_approval=False) | Q(approved_at__isnull=False),
        workspace__status=Workspace.Status.ACTIVE,
        workspace__agency__status=Agency.Status.ACTIVE,
    ).order_by("due_at", "id")


@transaction.atomic
def begin_broadcast(*, broadcast: int, now: datetime) -> bool:
    """Begin a broadcast, unless another process is at it or it is no longer due."""
    found = _locked(due_broadcasts(now), broadcast)
    if found is None:
        return False
    changes = _fixed(found)
    Broadcast.objects.filter(pk=found.pk, status=Status.SCHEDULED).update(
        started_at=now, updated_at=now, last_contact=last_contact_of(found), **changes
    )
    _record(found, [events.STARTED, *([events.PAUSED] if changes["paused_reason"] else [])], now=now)
    return True


@transaction.atomic
def _give_up_beginning(*, broadcast: int, now: datetime) -> bool:
    """Pause a broadcast whose beginning killed its process each time. Resuming begins it again."""
    found = _locked(due_broadcasts(now), broadcast)
    if found is None:
        return False
    frozen = FrozenMessage().as_json() | {"filter": {}, "is_refused": True}
    Broadcast.objects.filter(pk=found.pk, status=Status.SCHEDULED).update(
        status=Status.SENDING, started_at=now, last_contact=last_contact_of(found), frozen=frozen
    )
    _record(found, [events.STARTED], now=now)
    pause_for_fault([broadcast], BROKE_OFF, now)
    return True


def _pause_again(*, broadcast: int, now: datetime) -> bool:
    return bool(pause_for_fault([broadcast], BROKE_OFF, now))


def begin_refused_broadcasts(*, now: datetime, batch: int = BATCH) -> int:
    """Begin again the broadcasts that could not be sent when they began, and that a user has resumed since."""
    refused = next_rows(refused_broadcasts().only("pk"), kind=BEGINNING, most=batch)
    return sum(_run_counted(retry_begin, _pause_again, one.pk, now) for one in refused)


@transaction.atomic
def retry_begin(*, broadcast: int, now: datetime) -> bool:
    """Fix what could not be fixed before, or pause the broadcast once more."""
    found = _locked(refused_broadcasts(), broadcast)
    if found is None:
        return False
    changes = _fixed(found)
    Broadcast.objects.filter(pk=found.pk, status=Status.SENDING).update(updated_at=now, **changes)
    _record(found, [events.PAUSED] if changes["paused_reason"] else [], now=now)
    return True


def refused_broadcasts() -> "QuerySet[Broadcast]":
    """Return the broadcasts that were resumed after their message was refused, in their order."""
    resumed = Broadcast.objects.filter(status=Status.SENDING, is_prepared=False, frozen__is_refused=True)
    return resumed.order_by("id")


def _locked(rows: "QuerySet[Broadcast]", broadcast: int) -> Broadcast | None:
    locked = rows.select_for_update(of=("self",), no_key=True, skip_locked=True)
    return locked.select_related("channel", "workspace__agency", "segment").filter(pk=broadcast).first()


def _fixed(broadcast: Broadcast) -> dict[str, object]:
    """Return the fields that the beginning fixes, with a status and a reason if the broadcast pauses at once.

    A message that cannot be sent now (`is_refused`) is fixed when the broadcast is resumed.
    """
    people = audience_filter(broadcast)
    message, refusal = FrozenMessage(), None if people is not None else NO_SEGMENT
    try:
        message = freeze_message(broadcast)
    except InvalidInput as refused:
        refusal = refusal or refused.message
    reason = refusal
    if broadcast.channel.status != Channel.Status.ACTIVE:
        reason = NOT_CONNECTED
    return {
        "frozen": message.as_json() | {"filter": people or {}, "is_refused": refusal is not None},
        "status": Status.PAUSED if reason else Status.SENDING,
        "paused_reason": reason,
    }


def _record(broadcast: Broadcast, names: Sequence[str], *, now: datetime) -> None:
    """Record these events, and notify people of a pause, because no user watches the beginning on a screen."""
    found = joined(Broadcast.objects.filter(pk=broadcast.pk)).get()
    details = {"reason": found.paused_reason} if found.paused_reason else None
    for name in names:
        record_broadcast_change(found, name, by=SYSTEM, now=now, details=details if name == events.PAUSED else None)
    if events.PAUSED in names:
        notify_of_pause(found, now=now)


logger = logging.getLogger(__name__)

# The seconds between two looks for due work while a broadcast is under way or about to begin. Preparation goes on
# between them.
LOOK_SECONDS: Final = 0.5
# The seconds between looks at all other times, when a move of a broadcast wakes this process at once. These looks find
# broadcasts whose workspace was restored, and moves made while Redis was away.
REST_SECONDS: Final = 2.0
REST: Final = timedelta(seconds=REST_SECONDS)
# The shortest time between two looks, however many broadcasts are moved.
LEAST_SECONDS: Final = 0.1
SKIPPING_SECONDS: Final = 0.2
SOON: Final = "about to begin"
WORK: Final = (
    DueWork("to begin", (lambda: due_broadcasts(Now()), refused_broadcasts)),
    DueWork("to end", (cancelled_broadcasts, prepared_broadcasts)),
    DueWork("to prepare", (unprepared_broadcasts,)),
    DueWork(SOON, (lambda: due_broadcasts(Now() + REST),)),
)


class PreparationLoop:
    """Prepares chunk by chunk, and looks now and then for broadcasts to begin, to skip and to complete."""

    def __init__(self, *, chunk: int | None = None) -> None:
        self._turns = PreparationTurns(chunk=chunk)
        self._looked_at = self._look_at = 0.0
        self._completed_up_to = 0

    @property
    def is_large(self) -> bool:
        """Whether the broadcast in preparation is large enough for two connections."""
        return self._turns.is_large

    def go_on(self) -> bool:
        """Do a piece of work. Returns whether there was any."""
        if time.monotonic() >= self._look_at:
            self.look()
        return self._turns.go_on()

    def look_soon(self) -> None:
        """Make the next piece begin with a look."""
        self._look_at = min(self._look_at, self._looked_at + LEAST_SECONDS)

    def look(self) -> None:
        """Begin due broadcasts, end finished ones, and learn what to prepare.

        If there is none of it, one statement without a transaction says so.
        """
        found = due_among(WORK)
        self._looks_again_in(LOOK_SECONDS if found else REST_SECONDS)
        if not found - {SOON} and self._turns.is_empty:
            return
        now = database_now()
        # After a restore a due broadcast may have begun before. It waits until `after_restore` has looked at it.
        with connection.cursor() as cursor:
            may_begin = is_confirmed(cursor)
        if may_begin:
            begin_due_broadcasts(now=now)
            begin_refused_broadcasts(now=now)
        in_batches(partial(skip_next_cancelled, now=now), seconds=SKIPPING_SECONDS)
        self._completed_up_to = complete_broadcasts(now=now, after=self._completed_up_to)
        self._turns.learn()
        self._looks_again_in(LOOK_SECONDS)

    def _looks_again_in(self, seconds: float) -> None:
        self._looked_at = time.monotonic()
        self._look_at = self._looked_at + seconds


def run_preparation(
    *, should_stop: Callable[[], bool], idle_seconds: float = LOOK_SECONDS / 2, chunk: int | None = None
) -> None:
    """Work until `should_stop`. While a large broadcast is prepared, a second connection helps."""
    current, helping, woken = PreparationLoop(chunk=chunk), Future[None](), threading.Event()
    helping.set_result(None)
    listener = WakeUpListener(WAKE_UP, woken.set)
    listener.thread.start()
    try:
        with ThreadPoolExecutor(1, thread_name_prefix="preparing") as pool:
            while not should_stop():
                if not current.go_on():
                    if woken.wait(idle_seconds):
                        woken.clear()
                        current.look_soon()
                elif current.is_large and helping.done():
                    helping.result()
                    helping = pool.submit(prepare_on_second_connection, should_stop=should_stop, chunk=chunk)
    finally:
        listener.stop()


def prepare_on_second_connection(*, should_stop: Callable[[], bool], chunk: int | None = None) -> None:
    """Prepare on this thread's own connection until nothing is left that others have not taken."""
    turns = PreparationTurns(chunk=chunk)
    try:
        turns.learn()
        while not should_stop() and turns.go_on():
            turns.learn_when_due(LOOK_SECONDS)
    except DatabaseError as error:
        # The database is away; the first connection notices it too.
        logger.warning("the second connection cannot prepare", extra={"fault": type(error).__name__})
    finally:
        connection.close()

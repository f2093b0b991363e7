"""Records events for notifications with the change that causes them, and states for as long as they last."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from django.db import transaction
from django.db.models import CharField, Exists, Model, OuterRef, QuerySet
from django.db.models.functions import Cast

from agency.models import NotificationEvent, User
from agency.models.notifications import StateCheckPosition
from agency.notification_kinds import notification_kind
from agency.tenants import Tenant
from config.db import database_now
from config.hooks import Registry
from config.tries.counting import run_counted


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNotificationEvent:
    """Something that happened; `key` identifies it alone, and people are notified of a key once.

    `data` holds the values of the kind's sentence, `only_user` the one person whom the event concerns.
    """

    tenant: Tenant
    key: str
    object_id: str = ""
    data: Mapping[str, object] = field(default_factory=dict)
    only_user: User | None = None


def record_notification(
    *,
    tenant: Tenant,
    kind: str,
    key: str,
    now: datetime,
    object_id: str = "",
    data: Mapping[str, object] | None = None,
    only_user: User | None = None,
) -> None:
    """Notify people of something, in the transaction of the change; the same key notifies once.

    Raises `LookupError` for a kind that is not declared for the tenant.
    """
    happened = NewNotificationEvent(tenant=tenant, key=key, object_id=object_id, data=data or {}, only_user=only_user)
    record_notifications(kind, [happened], now=now, lasts=False)


def record_notifications(kind: str, occurrences: Iterable[NewNotificationEvent], *, now: datetime, lasts: bool) -> None:
    """Record several events of one kind, one row each however many people get them; an open event stays as it is."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("A notification belongs into the transaction of its change.")
    audience = notification_kind(kind).audience
    rows = list(occurrences)
    if any(one.tenant.audience != audience for one in rows):
        raise LookupError(f"{kind} is not for this audience.")
    NotificationEvent.objects.bulk_create(
        [
            NotificationEvent(
                agency_id=one.tenant.agency_id,
                workspace_id=one.tenant.workspace_id,
                workspace_uuid=one.tenant.workspace_uuid,
                kind=kind,
                key=one.key,
                object_id=one.object_id,
                data=dict(one.data),
                only_user=one.only_user,
                created_at=now,
                lasts=lasts,
            )
            for one in rows
        ],
        ignore_conflicts=True,
    )


def withdraw_notifications(kind: str, keys: Collection[str]) -> None:
    """Delete what people were notified of under these keys, because it is gone or concerns somebody else now."""
    if keys:
        NotificationEvent.objects.filter(kind=kind, key__in=keys, ended_at=None).delete()


BATCH: Final = 500
KIND: Final = "state check"
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class StateCheck:
    """One app's check: `check` begins and ends a bounded number of states at a time, by the database's clock.

    It returns whether it should be called again soon.
    """

    name: str
    check: Callable[[datetime], bool]


state_checks = Registry[StateCheck](
    "checks of lasting states",
    called=(
        "`check_lasting_states` calls each in the order of the apps, again and again for 5 s while something is left"
    ),
    transaction="none; a check opens one for each batch",
    failure="is logged and counted as `periodic_faults_total`; the other checks go on, this one with the next run",
)


def run_check(check: StateCheck) -> bool:
    """Check the next rows; a check that killed its process again and again is left out for a day."""
    work = partial(check.check, database_now())
    return run_counted(work, kind=KIND, key=check.name, give_up=lambda: False)


@transaction.atomic
def check_next_rows(
    name: str,
    rows: "QuerySet[Row]",
    check: Callable[[Sequence[Row]], None],
    *,
    now: datetime,
    batch: int = BATCH,
    every: timedelta = timedelta(0),
) -> bool:
    """Check the rows that follow those of the last call, in the order of their keys; return whether the pass goes on.

    A pass begins no sooner than `every` after the end of the previous pass. The check and the new position are one
    transaction.
    """
    StateCheckPosition.objects.get_or_create(name=name)
    place = StateCheckPosition.objects.select_for_update(no_key=True).get(name=name)
    if place.position == 0 and place.passed_at is not None and now < place.passed_at + every:
        return False
    found = list(rows.filter(pk__gt=place.position).order_by("pk")[:batch])
    check(found)
    is_last = len(found) < batch
    place.position, place.passed_at = (0, now) if is_last else (found[-1].pk, place.passed_at)
    place.save(update_fields=["position", "passed_at"])
    return not is_last


@transaction.atomic
def open_states(kind: str, occurrences: Iterable[NewNotificationEvent], *, now: datetime) -> None:
    """Notify people of states that have begun; a state that is open already stays as it is."""
    found = list(occurrences)
    known = set(_open(kind).filter(key__in=[one.key for one in found]).values_list("key", flat=True)) if found else ()
    record_notifications(kind, [one for one in found if one.key not in known], now=now, lasts=True)


def close_states(kind: str, keys: Collection[str], *, now: datetime) -> None:
    """End states, so that people are notified again when they return."""
    if keys:
        _open(kind).filter(key__in=keys).update(ended_at=now)


def end_next_states(kind: str, ended: Callable[[Sequence[NotificationEvent]], Collection[str]], now: datetime) -> bool:
    """Find out which of the next open states have ended, by their keys; return whether the pass goes on."""

    def check(events: Sequence[NotificationEvent]) -> None:
        if events:
            close_states(kind, ended(events), now=now)

    return check_next_rows(f"{kind} open", _open(kind), check, now=now)


def open_keys(kind: str) -> Iterator[list[str]]:
    """Yield the keys of open states, in batches."""
    after = 0
    while found := list(_open(kind).filter(pk__gt=after).order_by("pk").values_list("pk", "key")[:BATCH]):
        after = found[-1][0]
        yield [key for _, key in found]


def state_is_open(kind: str, column: str) -> Exists:
    """Return a condition that says whether a row, whose key is its `column`, is in this state."""
    return Exists(_open(kind).filter(key=Cast(OuterRef(column), CharField())))


def _open(kind: str) -> "QuerySet[NotificationEvent]":
    return NotificationEvent.objects.filter(kind=kind, lasts=True, ended_at=None)

"""What lasts: found by a task, told once for as long as it lasts, and anew when it has ended and begins again."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import CharField, Exists, OuterRef, QuerySet
from django.db.models.functions import Cast

from agency.models import NotificationEvent
from agency.services.notifications.recording import Occurrence, record_notifications
from config.hooks import Registry

BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class StateCheck:
    """What one app looks for: `check` begins and ends a bounded number of states at a time by the database's clock.

    It says whether it should be called again soon.
    """

    name: str
    check: Callable[[datetime], bool]


state_checks = Registry[StateCheck]("checks of lasting states")


@transaction.atomic
def begin_states(kind: str, occurrences: Iterable[Occurrence], *, now: datetime) -> None:
    """Have people told of what has begun; what is open already stays as it is."""
    record_notifications(kind, occurrences, now=now, lasts=True)


def end_states(kind: str, keys: Collection[str], *, now: datetime) -> None:
    """Say that states have ended: the next one of the same thing counts anew."""
    if keys:
        _open(kind).filter(key__in=keys).update(ended_at=now)


def open_keys(kind: str) -> Iterator[list[str]]:
    """Give the keys of what lasts, in batches."""
    after = 0
    while found := list(_open(kind).filter(pk__gt=after).order_by("pk").values_list("pk", "key")[:BATCH]):
        after = found[-1][0]
        yield [key for _, key in found]


def is_open(kind: str, column: str) -> Exists:
    """Say in a query whether a row, whose key is its `column`, is known to be in this state."""
    return Exists(_open(kind).filter(key=Cast(OuterRef(column), CharField())))


def _open(kind: str) -> "QuerySet[NotificationEvent]":
    return NotificationEvent.objects.filter(kind=kind, lasts=True, ended_at=None)

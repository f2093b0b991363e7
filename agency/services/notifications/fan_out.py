"""Writes a notification for each person of an event, in bounded batches whose position is kept."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import QuerySet

from agency.models import Notification, NotificationEvent, NotificationPreference, User
from agency.models.notifications import Way
from agency.notification_kinds import NotificationKind, notification_kinds
from agency.services.notifications.recipients import recipients_of
from config.api.text_fields import known_zones
from config.db import database_now
from config.tries.counting import begin_next, run_begun

BATCH: Final = 500
KIND: Final = "notification"
DIGEST_AT: Final = time(8)


def tell_next_people() -> bool:
    """Write the notifications of some people of the oldest unfinished event; return whether there was one."""
    begun = begin_next(_locked(events_to_notify_of()), kind=KIND)
    if begun is None:
        return False
    pk = begun[0].pk
    return run_begun(begun[1], partial(_tell_people_of, pk), give_up=partial(_tell_nobody_else, pk), counts_faults=True)


def events_to_notify_of() -> "QuerySet[NotificationEvent]":
    """Return the events of which people remain to be notified, in their order."""
    return NotificationEvent.objects.filter(told_at=None).order_by("id")


def _locked(rows: "QuerySet[NotificationEvent]") -> "QuerySet[NotificationEvent]":
    return rows.select_related("agency").select_for_update(skip_locked=True, no_key=True, of=("self",))


@transaction.atomic
def _tell_people_of(pk: int) -> bool:
    """Write the rows and the position in one transaction, so that nobody is notified twice."""
    event = _locked(events_to_notify_of().filter(pk=pk)).first()
    if event is None:
        return True  # another worker has it
    now = database_now()
    kind = notification_kinds.get(event.kind)
    people = _next_people(event) if kind else []
    if kind and people:
        Notification.objects.bulk_create(_rows(event, kind, people, now), ignore_conflicts=True)
        event.told_until = people[-1].pk
    event.told_at = now if len(people) < BATCH else None
    event.save(update_fields=["told_until", "told_at"])
    return True


def _tell_nobody_else(pk: int) -> bool:
    """Give up an event whose next rows killed their process too often."""
    NotificationEvent.objects.filter(pk=pk, told_at=None).update(told_at=database_now())
    return True


def _next_people(event: NotificationEvent) -> Sequence[Any]:
    rows = recipients_of(event).filter(pk__gt=event.told_until).order_by("pk")
    return list(rows.only("pk", "time_zone")[:BATCH])


def _rows(event: NotificationEvent, kind: NotificationKind, people: Sequence[Any], now: datetime) -> list[Notification]:
    area = event.workspace_uuid or event.agency.uuid
    chosen = chosen_ways(kind.name, area, [one.pk for one in people])
    ways = [(one, way_of(kind, chosen.get(one.pk), one.role)) for one in people]
    return [
        Notification(
            user=one,
            event=event,
            area=area,
            kind=kind.name,
            created_at=event.created_at,
            way=way,
            mail_due_at=mail_due_at(way, one, now),
        )
        for one, way in ways
        if way != Way.OFF
    ]


def chosen_ways(kind: str, area: UUID, people: Sequence[int]) -> dict[int, str]:
    """Return the delivery methods that people have chosen for a kind, by their ids."""
    rows = NotificationPreference.objects.filter(kind=kind, area=area, user__in=people)
    return dict(rows.values_list("user_id", "way"))


def way_of(kind: NotificationKind, chosen: str | None, role: str) -> Way:
    """Return a person's delivery method: the chosen one if the kind still allows it, else the default."""
    return Way(chosen) if chosen in kind.ways else kind.usual_way(role)


def mail_due_at(way: Way, person: User, now: datetime) -> datetime | None:
    """Return when an e-mail is due; None if there is none."""
    if way == Way.AT_ONCE:
        return now
    return next_digest(person.time_zone, now) if way == Way.DIGEST else None


def next_digest(time_zone: str, now: datetime) -> datetime:
    """Return the next eight o'clock in a person's time zone, UTC if they chose none."""
    local = now.astimezone(ZoneInfo(time_zone if time_zone in known_zones() else "UTC"))
    today = datetime.combine(local.date(), DIGEST_AT, local.tzinfo)
    due = today if today > local else datetime.combine(local.date() + timedelta(days=1), DIGEST_AT, local.tzinfo)
    return due.astimezone(now.tzinfo)

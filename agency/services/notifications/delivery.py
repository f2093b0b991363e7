"""Delivers notifications: a row for each person of an event, then e-mails by each person's choice.

E-mails go out a few at once, the others once a day. Each checks anew who may still see it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.urls import reverse

from agency.models import Agency, Mail, Member, Notification, NotificationEvent, NotificationPreference, User
from agency.models.notifications import DeliveryMethod
from agency.notification_kinds import NotificationKind, notification_kind, notification_kinds
from agency.services.mail.queue import queue_mail
from agency.services.notifications.devices import queue_pushes
from agency.tenants import Audience
from config.api.text_fields import known_zones
from config.db import TimeOrExpression, database_now
from config.errors import InvalidInput
from config.hooks import Registry
from config.tries.counting import begin_next, run_begun


@dataclass(frozen=True, slots=True)
class RecipientSource:
    """The people of one audience; `name` is the audience.

    `people` returns the people who may see an event, each with a `role`; nobody if the agency or workspace is closed.
    With `only_who_may_open` people without the required two-factor are left out.
    """

    name: str
    people: "Callable[[NotificationEvent, bool], QuerySet[User]]"


recipient_sources = Registry[RecipientSource](
    "sources of recipients",
    called=(
        "`recipients_of` calls that of the event's audience, before people are notified and before their e-mail "
        "is queued"
    ),
    transaction="its own, one for each batch or e-mail",
    failure="rolls the batch back and ends the task; after five tries it is given up",
)
HAS_TWO_FACTOR = Q(two_factor__confirmed_at__isnull=False)


def recipients_of(event: NotificationEvent, *, only_who_may_open: bool = False) -> "QuerySet[User]":
    """Return the people who may see an event now."""
    source = recipient_sources.get(event.audience)
    rows = source.people(event, only_who_may_open) if source else User.objects.none()
    return rows if event.only_user_id is None else rows.filter(pk=event.only_user_id)


def _staff(event: NotificationEvent, only_who_may_open: bool) -> "QuerySet[User]":
    """Return the staff of an active agency whose role is notified of this kind."""
    found = Member.objects.filter(
        agency=event.agency_id, agency__status=Agency.Status.ACTIVE, role__in=notification_kind(event.kind).roles
    )
    rows = User.objects.filter(is_active=True, memberships__in=found).annotate(role=F("memberships__role"))
    if only_who_may_open:
        rows = rows.filter(HAS_TWO_FACTOR | ~Q(role__in=event.agency.two_factor_roles))
    return rows


STAFF = RecipientSource(Audience.AGENCY, _staff)


BATCH: Final = 500
FAN_OUT_KIND: Final = "notification"
DIGEST_AT: Final = time(8)


def fan_out_next_event() -> bool:
    """Write the notifications of some people of the oldest unfinished event; return whether there was one."""
    begun = begin_next(_lock_events(events_to_notify_of()), kind=FAN_OUT_KIND)
    if begun is None:
        return False
    pk = begun[0].pk
    return run_begun(begun[1], partial(_fan_out, pk), give_up=partial(_give_up_fan_out, pk), counts_faults=True)


def events_to_notify_of() -> "QuerySet[NotificationEvent]":
    """Return the events of which people remain to be notified, in their order."""
    return NotificationEvent.objects.filter(told_at=None).order_by("id")


def _lock_events(rows: "QuerySet[NotificationEvent]") -> "QuerySet[NotificationEvent]":
    return rows.select_related("agency").select_for_update(skip_locked=True, no_key=True, of=("self",))


@transaction.atomic
def _fan_out(pk: int) -> bool:
    """Write the rows and the position in one transaction, so that nobody is notified twice."""
    event = _lock_events(events_to_notify_of().filter(pk=pk)).first()
    if event is None:
        return True  # another worker has it
    now = database_now()
    kind = notification_kinds.get(event.kind)
    people = _next_people(event) if kind else []
    if kind and people:
        rows = _rows(event, kind, people, now)
        Notification.objects.bulk_create(rows, ignore_conflicts=True)
        queue_pushes(event, [row.user_id for row in rows], now=now)
        event.told_until = people[-1].pk
    event.told_at = now if len(people) < BATCH else None
    event.save(update_fields=["told_until", "told_at"])
    return True


def _give_up_fan_out(pk: int) -> bool:
    """Give up an event whose next rows killed their process too often."""
    NotificationEvent.objects.filter(pk=pk, told_at=None).update(told_at=database_now())
    return True


def _next_people(event: NotificationEvent) -> Sequence[Any]:
    rows = recipients_of(event).filter(pk__gt=event.told_until).order_by("pk")
    return list(rows.only("pk", "time_zone")[:BATCH])


def _rows(event: NotificationEvent, kind: NotificationKind, people: Sequence[Any], now: datetime) -> list[Notification]:
    area = event.workspace_uuid or event.agency.uuid
    chosen = chosen_delivery_methods(kind.name, area, [one.pk for one in people])
    ways = [(one, delivery_method_of(kind, chosen.get(one.pk), one.role)) for one in people]
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
        if way != DeliveryMethod.OFF
    ]


def chosen_delivery_methods(kind: str, area: UUID, people: Sequence[int]) -> dict[int, str]:
    """Return the delivery methods that people have chosen for a kind, by their ids."""
    rows = NotificationPreference.objects.filter(kind=kind, area=area, user__in=people)
    return dict(rows.values_list("user_id", "way"))


def delivery_method_of(kind: NotificationKind, chosen: str | None, role: str) -> DeliveryMethod:
    """Return a person's delivery method: the chosen one if the kind still allows it, else the default."""
    return DeliveryMethod(chosen) if chosen in kind.ways else kind.usual_way(role)


def mail_due_at(way: DeliveryMethod, person: User, now: datetime) -> datetime | None:
    """Return when an e-mail is due; None if there is none."""
    if way == DeliveryMethod.AT_ONCE:
        return now
    return next_digest(person.time_zone, now) if way == DeliveryMethod.DIGEST else None


def next_digest(time_zone: str, now: datetime) -> datetime:
    """Return the next eight o'clock in a person's time zone, UTC if they chose none."""
    local = now.astimezone(ZoneInfo(time_zone if time_zone in known_zones() else "UTC"))
    today = datetime.combine(local.date(), DIGEST_AT, local.tzinfo)
    due = today if today > local else datetime.combine(local.date() + timedelta(days=1), DIGEST_AT, local.tzinfo)
    return due.astimezone(now.tzinfo)


HOUR: Final = timedelta(hours=1)
MAIL_KIND: Final = "notification e-mail"
# E-mails at once to one person in an hour; further ones go into the day's digest.
MOST_AT_ONCE: Final = 6
# How many notifications a digest names, and how many it handles; of the others it says how many there are.
MOST_LINES: Final = 30
MOST_IN_DIGEST: Final = 10_000


def mail_next_at_once() -> bool:
    """Queue the e-mail about the notification that has waited longest for one; return whether there was any."""
    return _mail_next(DeliveryMethod.AT_ONCE, _mail_at_once, give_up=_mail_no_more)


def mail_next_digest() -> bool:
    """Queue one person's daily digest of one agency, with all that waits for it; return whether there was any."""
    return _mail_next(DeliveryMethod.DIGEST, _mail_digest, give_up=_mail_no_digest)


def _mail_next(way: DeliveryMethod, work: Callable[[int, datetime], bool], *, give_up: Callable[[int], bool]) -> bool:
    now = database_now()
    begun = begin_next(_for_mail(notifications_to_mail(way, now)), kind=MAIL_KIND)
    if begun is None:
        return False
    pk = begun[0].pk
    return run_begun(begun[1], partial(work, pk, now), give_up=partial(give_up, pk), counts_faults=True)


def _mail_no_more(pk: int) -> bool:
    """Skip the e-mail of a notification if it killed its process too often; the person's list still shows it."""
    Notification.objects.filter(pk=pk).update(way=DeliveryMethod.CONSOLE, mail_due_at=None)
    return True


def _mail_no_digest(pk: int) -> bool:
    """Skip a person's digest if it killed its process too often."""
    first = Notification.objects.select_related("event").get(pk=pk)
    rows = Notification.objects.filter(
        user=first.user_id, event__agency=first.event.agency_id, way=DeliveryMethod.DIGEST
    )
    rows.filter(mail_due_at__isnull=False).update(way=DeliveryMethod.CONSOLE, mail_due_at=None)
    return True


@transaction.atomic
def _mail_at_once(pk: int, now: datetime) -> bool:
    """Queue an e-mail, in one transaction with the notification's `mailed_at`."""
    row = _lock_notification(pk, DeliveryMethod.AT_ONCE, now)
    if row is None:
        return True
    way = _way_now(row)
    if way == DeliveryMethod.AT_ONCE and _count_of_hour(row.user, now) >= MOST_AT_ONCE:
        way = DeliveryMethod.DIGEST
    if way == DeliveryMethod.AT_ONCE:
        queue_mail(
            kind=Mail.Kind.NOTIFICATION,
            user=row.user,
            agency=row.event.agency,
            context={**_line(row), "object_id": row.event.object_id},
        )
        row.mailed_at, row.mail_due_at = now, None
    else:
        row.way, row.mail_due_at = way, mail_due_at(way, row.user, now)
    row.save(update_fields=["way", "mail_due_at", "mailed_at"])
    return True


@transaction.atomic
def _mail_digest(pk: int, now: datetime) -> bool:
    first = _lock_notification(pk, DeliveryMethod.DIGEST, now)
    if first is None:
        return True
    waiting = Notification.objects.filter(
        user=first.user, event__agency=first.event.agency_id, way=DeliveryMethod.DIGEST, mail_due_at__lte=now
    )
    found = list(waiting.order_by("-id").values_list("pk", "read_at")[:MOST_IN_DIGEST])
    unread = [pk for pk, read_at in found if read_at is None]
    newest = Notification.objects.filter(pk__in=unread[:MOST_LINES]).select_related("user", "event__agency")
    rows = [row for row in newest.order_by("-id") if _way_now(row) in {DeliveryMethod.AT_ONCE, DeliveryMethod.DIGEST}]
    if rows:
        _queue_digest(first, rows, more=max(0, len(unread) - MOST_LINES))
    Notification.objects.filter(pk__in=[pk for pk, _ in found]).update(mail_due_at=None, mailed_at=now)
    return True


def _queue_digest(first: Notification, rows: Sequence[Notification], *, more: int) -> None:
    has_staffs = any(row.event.audience == Audience.AGENCY for row in rows)
    lines = [_line(row) for row in rows]
    queue_mail(
        kind=Mail.Kind.NOTIFICATION_DIGEST,
        user=first.user,
        agency=first.event.agency,
        context={"lines": lines, "more": more, "area": "console" if has_staffs else "app"},
    )


def notifications_to_mail(way: DeliveryMethod, now: TimeOrExpression) -> "QuerySet[Notification]":
    """Return the notifications whose e-mail is due by this delivery method, in their order."""
    return Notification.objects.filter(way=way, mail_due_at__lte=now).order_by("mail_due_at", "id")


def _for_mail(due: "QuerySet[Notification]") -> "QuerySet[Notification]":
    return due.select_for_update(skip_locked=True, of=("self",)).select_related("user", "event__agency")


def _lock_notification(pk: int, way: DeliveryMethod, now: datetime) -> Notification | None:
    """Lock a notification that is still due, and then its person, so that one worker counts their e-mails."""
    row = _for_mail(notifications_to_mail(way, now).filter(pk=pk)).first()
    if row is not None:
        User.objects.select_for_update(no_key=True).get(pk=row.user_id)
    return row


def _way_now(row: Notification) -> DeliveryMethod:
    """Return the present delivery method: no e-mail if the person has read it, or may no longer see it."""
    kind = notification_kinds.get(row.kind)
    if kind is None or row.read_at is not None:
        return DeliveryMethod.CONSOLE
    return current_delivery_method(row.event, kind, row.user_id) or DeliveryMethod.CONSOLE


def current_delivery_method(event: NotificationEvent, kind: NotificationKind, user_id: int) -> DeliveryMethod | None:
    """Return how a person receives an event by now; None if they may not see it."""
    person: Any = recipients_of(event, only_who_may_open=True).filter(pk=user_id).first()
    if person is None:
        return None
    chosen = chosen_delivery_methods(kind.name, event.workspace_uuid or event.agency.uuid, [user_id])
    return delivery_method_of(kind, chosen.get(user_id), person.role)


def _count_of_hour(user: User, now: datetime) -> int:
    recent = Notification.objects.filter(user=user, way=DeliveryMethod.AT_ONCE, mailed_at__gt=now - HOUR)
    return recent[:MOST_AT_ONCE].count()


def _line(row: Notification) -> dict[str, object]:
    """Return what an e-mail says of a notification; a workspace's begins with the workspace's name."""
    about = row.event.data.get("workspace", "") if row.event.audience == Audience.WORKSPACE else ""
    return {"kind": row.kind, "data": row.event.data, "about": about}


def notification_path(mail: Mail) -> str:
    """Return the page that an e-mail about one notification links to; the list if its kind is no longer known."""
    found = notification_kinds.get(mail.context.get("kind", ""))
    return found.address(mail.context["object_id"]) if found else digest_path(mail)


def digest_path(mail: Mail) -> str:
    return reverse("app:notifications" if mail.context.get("area") == "app" else "console:notifications")


class UnknownDeliveryMethod(InvalidInput):
    message = "This kind of notification is not sent in this way."


def preferences_of(
    *, user: User, area: UUID, kinds: Collection[NotificationKind], role: str
) -> dict[str, DeliveryMethod]:
    """Return the delivery method of each kind, as chosen or the default for this role."""
    rows = NotificationPreference.objects.filter(user=user, area=area)
    chosen = dict(rows.values_list("kind", "way"))
    return {kind.name: delivery_method_of(kind, chosen.get(kind.name), role) for kind in kinds}


@transaction.atomic
def set_preferences(
    *, user: User, area: UUID, kinds: Collection[NotificationKind], ways: Mapping[str, DeliveryMethod]
) -> None:
    """Save a person's choices, one row for each kind that is among `ways`. Raises `UnknownDeliveryMethod`.

    They are the person's own, so no activity is recorded. Waiting e-mails follow the choices when they are due.
    """
    of_name = {kind.name: kind for kind in kinds}
    for name, way in ways.items():
        if name not in of_name or way not in of_name[name].ways:
            raise UnknownDeliveryMethod
    NotificationPreference.objects.bulk_create(
        [NotificationPreference(user=user, area=area, kind=name, way=way) for name, way in ways.items()],
        update_conflicts=True,
        unique_fields=["user", "area", "kind"],
        update_fields=["way"],
    )


MOST_COUNTED: Final = 99


def notifications_of(user: User, area: UUID, kinds: Collection[str]) -> "QuerySet[Notification]":
    """Return a person's notifications, of the kinds that they may see now."""
    return Notification.objects.filter(user=user, area=area, kind__in=kinds)


def unread_notifications(user: User, area: UUID, kinds: Collection[str]) -> "QuerySet[Notification]":
    """Return a person's unread notifications, to be counted along their index."""
    return notifications_of(user, area, kinds).filter(read_at=None).order_by()


def count_unread(user: User, area: UUID, kinds: Collection[str]) -> int:
    """Count unread notifications, to a hundred at most, in one statement."""
    return unread_notifications(user, area, kinds).values("pk")[: MOST_COUNTED + 1].count()


def mark_read(*, user: User, area: UUID, number: int, now: datetime) -> None:
    """Mark one of a person's notifications as read; a read notification, or another person's, stays as it is."""
    Notification.objects.filter(pk=number, user=user, area=area, read_at=None).update(read_at=now)


def mark_all_read(*, user: User, area: UUID, until: int, now: datetime) -> int:
    """Mark all as read up to the newest that the person was shown (`until`, its id); return how many."""
    unread = Notification.objects.filter(user=user, area=area, read_at=None, pk__lte=until)
    return unread.update(read_at=now)

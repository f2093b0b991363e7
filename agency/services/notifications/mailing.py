"""E-mails about notifications: a few at once, the others once a day. Each checks anew who may still see it."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from agency.models import Mail, Notification, User
from agency.models.notifications import Way
from agency.notification_kinds import notification_kinds
from agency.services.mail.queue import queue_mail
from agency.services.notifications.fan_out import chosen_ways, mail_due_at, way_of
from agency.services.notifications.recipients import recipients_of
from agency.tenants import Audience
from config.db import TimeOrExpression, database_now
from config.tries.counting import begin_next, run_begun

HOUR: Final = timedelta(hours=1)
KIND: Final = "notification e-mail"
# E-mails at once to one person in an hour; further ones go into the day's digest.
MOST_AT_ONCE: Final = 6
# How many notifications a digest names, and how many it handles; of the others it says how many there are.
MOST_LINES: Final = 30
MOST_IN_DIGEST: Final = 10_000


def mail_next_at_once() -> bool:
    """Queue the e-mail about the notification that has waited longest for one; return whether there was any."""
    return _mail_next(Way.AT_ONCE, _mail_at_once, give_up=_mail_no_more)


def mail_next_digest() -> bool:
    """Queue one person's daily digest of one agency, with all that waits for it; return whether there was any."""
    return _mail_next(Way.DIGEST, _mail_digest, give_up=_mail_no_digest)


def _mail_next(way: Way, work: Callable[[int, datetime], bool], *, give_up: Callable[[int], bool]) -> bool:
    now = database_now()
    begun = begin_next(_for_mail(notifications_to_mail(way, now)), kind=KIND)
    if begun is None:
        return False
    pk = begun[0].pk
    return run_begun(begun[1], partial(work, pk, now), give_up=partial(give_up, pk), counts_faults=True)


def _mail_no_more(pk: int) -> bool:
    """Skip the e-mail of a notification if it killed its process too often; the person's list still shows it."""
    Notification.objects.filter(pk=pk).update(way=Way.CONSOLE, mail_due_at=None)
    return True


def _mail_no_digest(pk: int) -> bool:
    """Skip a person's digest if it killed its process too often."""
    first = Notification.objects.select_related("event").get(pk=pk)
    rows = Notification.objects.filter(user=first.user_id, event__agency=first.event.agency_id, way=Way.DIGEST)
    rows.filter(mail_due_at__isnull=False).update(way=Way.CONSOLE, mail_due_at=None)
    return True


@transaction.atomic
def _mail_at_once(pk: int, now: datetime) -> bool:
    """Queue an e-mail, in one transaction with the notification's `mailed_at`."""
    row = _locked(pk, Way.AT_ONCE, now)
    if row is None:
        return True
    way = _way_now(row)
    if way == Way.AT_ONCE and _count_of_hour(row.user, now) >= MOST_AT_ONCE:
        way = Way.DIGEST
    if way == Way.AT_ONCE:
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
    first = _locked(pk, Way.DIGEST, now)
    if first is None:
        return True
    waiting = Notification.objects.filter(
        user=first.user, event__agency=first.event.agency_id, way=Way.DIGEST, mail_due_at__lte=now
    )
    found = list(waiting.order_by("-id").values_list("pk", "read_at")[:MOST_IN_DIGEST])
    unread = [pk for pk, read_at in found if read_at is None]
    newest = Notification.objects.filter(pk__in=unread[:MOST_LINES]).select_related("user", "event__agency")
    rows = [row for row in newest.order_by("-id") if _way_now(row) in {Way.AT_ONCE, Way.DIGEST}]
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


def notifications_to_mail(way: Way, now: TimeOrExpression) -> "QuerySet[Notification]":
    """Return the notifications whose e-mail is due by this delivery method, in their order."""
    return Notification.objects.filter(way=way, mail_due_at__lte=now).order_by("mail_due_at", "id")


def _for_mail(due: "QuerySet[Notification]") -> "QuerySet[Notification]":
    return due.select_for_update(skip_locked=True, of=("self",)).select_related("user", "event__agency")


def _locked(pk: int, way: Way, now: datetime) -> Notification | None:
    """Lock a notification that is still due, and then its person, so that one worker counts their e-mails."""
    row = _for_mail(notifications_to_mail(way, now).filter(pk=pk)).first()
    if row is not None:
        User.objects.select_for_update(no_key=True).get(pk=row.user_id)
    return row


def _way_now(row: Notification) -> Way:
    """Return the present delivery method: no e-mail if the person has read it, or may no longer see it."""
    kind = notification_kinds.get(row.kind)
    if kind is None or row.read_at is not None:
        return Way.CONSOLE
    person: Any = _readers(row).first()
    if person is None:
        return Way.CONSOLE
    return way_of(kind, chosen_ways(row.kind, row.area, [row.user_id]).get(row.user_id), person.role)


def _readers(row: Notification) -> "QuerySet[User]":
    return recipients_of(row.event, only_who_may_open=True).filter(pk=row.user_id)


def _count_of_hour(user: User, now: datetime) -> int:
    recent = Notification.objects.filter(user=user, way=Way.AT_ONCE, mailed_at__gt=now - HOUR)
    return recent[:MOST_AT_ONCE].count()


def _line(row: Notification) -> dict[str, Any]:
    """Return what an e-mail says of a notification; a workspace's begins with the workspace's name."""
    about = row.event.data.get("workspace", "") if row.event.audience == Audience.WORKSPACE else ""
    return {"kind": row.kind, "data": row.event.data, "about": about}


def notification_path(mail: Mail) -> str:
    """Return the page that an e-mail about one notification links to; the list if its kind is no longer known."""
    found = notification_kinds.get(mail.context.get("kind", ""))
    return found.address(mail.context["object_id"]) if found else digest_path(mail)


def digest_path(mail: Mail) -> str:
    return reverse("app:notifications" if mail.context.get("area") == "app" else "console:notifications")

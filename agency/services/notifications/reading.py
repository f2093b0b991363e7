"""A person's notifications at an agency or in a workspace: listed, counted and marked as read."""

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from agency.models import Notification, User

MOST_COUNTED: Final = 99


def notifications_of(user: User, area: UUID, kinds: Collection[str]) -> "QuerySet[Notification]":
    """Return a person's notifications, of the kinds that they may see now."""
    return Notification.objects.filter(user=user, area=area, kind__in=kinds)


def count_unread(user: User, area: UUID, kinds: Collection[str]) -> int:
    """Count unread notifications, to a hundred at most, in one statement along the index of unread rows."""
    unread = notifications_of(user, area, kinds).filter(read_at=None)
    return unread.order_by().values("pk")[: MOST_COUNTED + 1].count()


def mark_read(*, user: User, area: UUID, number: int, now: datetime) -> None:
    """Mark one of a person's notifications as read; a read notification, or another person's, stays as it is."""
    Notification.objects.filter(pk=number, user=user, area=area, read_at=None).update(read_at=now)


def mark_all_read(*, user: User, area: UUID, until: int, now: datetime) -> int:
    """Mark all as read up to the newest that the person was shown (`until`, its id); return how many."""
    unread = Notification.objects.filter(user=user, area=area, read_at=None, pk__lte=until)
    return unread.update(read_at=now)

"""Makes the classes of series ahead of time, up to a horizon that moves on day by day."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from agency.actors import SYSTEM
from agency.models.notifications import DeliveryMethod
from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import record_notification
from agency.tenants import Audience
from config.db import TimeOrExpression
from config.errors import Conflict, DomainError
from config.formats import format_day
from workspaces.classes.models import ClassSeries, ClassSession, LeftOutDate
from workspaces.classes.services.series import today_of
from workspaces.classes.services.series_dates import dates_of, has_dates, times_of
from workspaces.classes.services.sessions import SeriesDate, schedule_class
from workspaces.subaccounts.services import tenant_of

HORIZON: Final = timedelta(days=90)
MADE_AT_ONCE: Final = 25
EVERY: Final = timedelta(days=1)
# A series that breaks its task comes again no sooner, so the others have their turns.
LEASE: Final = timedelta(hours=1)
LEFT_OUT: Final = "class.left_out"


def _with_day(data: Mapping[str, str]) -> Mapping[str, object]:
    return {**data, "date": format_day(date.fromisoformat(data["date"]), "yMMMEd")}


NOTIFICATION_KINDS: Final = (
    NotificationKind(
        name=LEFT_OUT,
        label=_("A class of a series was skipped"),
        text=_("%(service)s does not take place on %(date)s, because the host is busy then."),
        url_name="app:class-series",
        names_object=True,
        words=_with_day,
        audience=Audience.WORKSPACE,
        usual=DeliveryMethod.CONSOLE,
    ),
)


def due_series(now: TimeOrExpression) -> "QuerySet[ClassSeries]":
    """Give the series whose next classes are to be made, the longest due first."""
    return ClassSeries.objects.filter(due_at__isnull=False, due_at__lte=now).order_by("due_at", "id")


def make_next_classes(*, now: datetime) -> bool:
    """Make classes of the series that is due first. Says whether there was one."""
    key = _claim(now)
    if key is not None:
        _make_classes(key, now)
    return key is not None


@transaction.atomic
def _claim(now: datetime) -> int | None:
    series = due_series(now).select_for_update(skip_locked=True, no_key=True).first()
    if series is None:
        return None
    ClassSeries.objects.filter(pk=series.pk).update(due_at=now + LEASE)
    return series.pk


@transaction.atomic
def _make_classes(key: int, now: datetime) -> None:
    """Make the next classes of a series, a bounded number. What is left is due at once, else the series tomorrow."""
    rows = ClassSeries.objects.select_for_update(no_key=True, of=("self",)).select_related("workspace")
    series = rows.with_names().get(pk=key)
    if series.due_at is None:
        return
    through = today_of(series, now) + HORIZON
    days = list(islice(dates_of(series, after=_last_made(series, now), through=through), MADE_AT_ONCE))
    LeftOutDate.objects.filter(series=series, starts_at__lt=now).delete()
    left_out = [day for day in _days_to_make(series, days) if not _make_class(series, day, now)]
    if left_out:
        _notify(series, left_out, now)
    is_made = len(days) < MADE_AT_ONCE
    series.made_through = max(through, series.made_through or through) if is_made else days[-1]
    goes_on = not is_made or has_dates(series, after=series.made_through)
    series.due_at = (now + EVERY if is_made else now) if goes_on else None
    series.save(update_fields=["made_through", "due_at"])


def _last_made(series: ClassSeries, now: datetime) -> date:
    """Give the date after which classes are to be made. Dates before today are over."""
    yesterday = today_of(series, now) - timedelta(days=1)
    return max(series.made_through or yesterday, yesterday)


def _days_to_make(series: ClassSeries, days: Iterable[date]) -> list[date]:
    """Leave out dates that have a class already, cancelled ones included."""
    made = ClassSession.objects.filter(series=series, series_date__in=days).values_list("series_date", flat=True)
    return [day for day in days if day not in set(made)]


def _make_class(series: ClassSeries, day: date, now: datetime) -> bool:
    """Make the class of a date. Says no if it was left out. What has started already is not made."""
    times = times_of(series, day)
    if times.starts_at <= now:
        return True
    try:
        with transaction.atomic():
            schedule_class(
                workspace=series.workspace,
                service=series.service,
                staff=series.staff,
                starts_at=times.starts_at,
                ends_at=times.ends_at,
                capacity=series.capacity,
                now=now,
                by=SYSTEM,
                made_for=SeriesDate(series, day),
            )
    except DomainError as refusal:
        reason = LeftOutDate.Reason.HOST_BUSY if isinstance(refusal, Conflict) else LeftOutDate.Reason.REFUSED
        row = {"starts_at": times.starts_at, "reason": reason, "created_at": now}
        LeftOutDate.objects.update_or_create(series=series, date=day, defaults=row)
        return False
    return True


def _notify(series: ClassSeries, left_out: list[date], now: datetime) -> None:
    """Notify once of the classes of a run that were left out; the page of the series names all of them."""
    record_notification(
        tenant=tenant_of(series.workspace),
        kind=LEFT_OUT,
        key=f"{series.uuid}:{left_out[0]}",
        now=now,
        object_id=str(series.uuid),
        data={"service": series.service.name, "date": left_out[0].isoformat()},
    )

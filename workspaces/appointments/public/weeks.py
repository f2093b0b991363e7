"""A week of days with free times, from which a visitor chooses. Free times come from `free_times` alone."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from config.formats import format_time
from config.wall_clock import instant_of
from workspaces.appointments.models import Appointment
from workspaces.appointments.public.base import date_in, instant_as_text
from workspaces.appointments.services.availability import LONGEST_RANGE, FreeTime, free_times
from workspaces.catalogue.models import Service, Staff
from workspaces.subaccounts.models import Workspace

DAYS: Final = 7
ONE_DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(days=DAYS)
# The least length of a range of times.
SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Choices:
    """What a visitor chooses a time for. `moved` is the appointment that gets another time."""

    workspace: Workspace
    service: Service
    staff: Staff | None
    zone: str
    now: datetime
    moved: Appointment | None = None

    def between(self, first: datetime, last: datetime) -> list[FreeTime]:
        return free_times(
            workspace=self.workspace,
            service=self.service,
            first=first,
            last=last,
            now=self.now,
            staff=self.staff,
            ignoring=self.moved,
        )

    def at(self, moment: datetime) -> FreeTime | None:
        """Return the free time that begins at this moment."""
        return next((one for one in self.between(moment, moment + SECOND) if one.starts_at == moment), None)

    @property
    def today(self) -> date:
        return self.now.astimezone(ZoneInfo(self.zone)).date()

    @property
    def last_day(self) -> date:
        """The last day that can have times. The visitor's clock may be a day ahead of the business's."""
        return self.today + timedelta(days=self.service.horizon_days + 1)

    def midnight(self, day: date) -> datetime:
        return instant_of(datetime.combine(day, time()), self.zone)

    def first_free_day(self) -> date | None:
        """Return the day of the first free time. It looks at a month at once, at most a year ahead."""
        begin, end = self.now, self.midnight(self.last_day + ONE_DAY)
        while begin < end:
            found = self.between(begin, begin + LONGEST_RANGE)
            if found:
                return found[0].starts_at.astimezone(ZoneInfo(self.zone)).date()
            begin += LONGEST_RANGE
        return None


@dataclass(frozen=True, slots=True)
class ShownTime:
    """A free time as a page shows it: `instant` stands in the address, `clock` on the page."""

    instant: str
    clock: str


@dataclass(frozen=True, slots=True)
class Day:
    date: date
    times: Sequence[ShownTime]
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Week:
    """Seven days, one of them chosen. `earlier` and `later` are the first days of the weeks beside it.

    `is_in_another_month` says that the first free time is not in this month; then the page says where it is. Without
    any free time, `has_times` is False.
    """

    days: Sequence[Day]
    chosen: Day
    earlier: date | None
    later: date | None
    has_times: bool
    is_in_another_month: bool


def week_of(choices: Choices, *, asked: str, day: str) -> Week:
    """Return the week that an address names, else that of the first free time.

    `asked` is its first day and `day` the chosen one, both as the address has them. Without `day`, the first day of the
    week that has free times is chosen.
    """
    wanted = date_in(asked)
    first_free = None if wanted else choices.first_free_day()
    first = min(max(wanted or first_free or choices.today, choices.today), choices.last_day)
    times = _times_by_day(choices, first)
    chosen = date_in(day)
    if chosen is None or not first <= chosen < first + WEEK:
        chosen = next(iter(sorted(times)), first)
    days = [Day(one, times.get(one, ()), one == chosen) for one in (first + n * ONE_DAY for n in range(DAYS))]
    return Week(
        days=days,
        chosen=next(one for one in days if one.is_chosen),
        earlier=max(first - WEEK, choices.today) if first > choices.today else None,
        later=first + WEEK if first + WEEK <= choices.last_day else None,
        has_times=bool(times),
        is_in_another_month=bool(first_free) and (first.year, first.month) != (choices.today.year, choices.today.month),
    )


def _times_by_day(choices: Choices, first: date) -> dict[date, list[ShownTime]]:
    begin, end = choices.midnight(first), choices.midnight(first + WEEK)
    clock, found = ZoneInfo(choices.zone), defaultdict(list)
    for free in choices.between(begin, end):
        local = free.starts_at.astimezone(clock)
        found[local.date()].append(ShownTime(instant_as_text(free.starts_at), format_time(local)))
    return dict(found)

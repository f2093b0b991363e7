"""Charts over the last day, week or month: apps count, and the server draws the counts as SVG."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple

from django.db.models import DateTimeField, Func, Sum
from django.utils.translation import gettext_lazy as _

from agency.models import Agency, HourlyCount
from agency.pages.registry import StrOrPromise, in_order
from config.formats import format_day, format_day_time
from config.hooks import Registry

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HEIGHT: Final = 80
WIDTH: Final = 360
Counts = Mapping[datetime, int]


@dataclass(frozen=True, slots=True)
class PeriodChoice:
    """A choice of the page: a number of steps back from now, each an hour or a day in UTC."""

    name: str
    label: StrOrPromise
    steps: int
    step: timedelta


PERIODS: Final = (
    PeriodChoice("24h", _("24 hours"), 24, HOUR),
    PeriodChoice("7d", _("7 days"), 7, DAY),
    PeriodChoice("30d", _("30 days"), 30, DAY),
)


class BucketLabel(NamedTuple):
    """A step's beginning in UTC, for programs and for people."""

    exact: str
    text: str


@dataclass(frozen=True)
class Period:
    """The steps of a chart: each begins at one of `starts`, and the last is still going on."""

    kind: PeriodChoice
    starts: tuple[datetime, ...]

    @classmethod
    def named(cls, name: str, now: datetime) -> "Period":
        """Return the period of this name that ends now; an unknown name means the shortest period."""
        kind = next((one for one in PERIODS if one.name == name), PERIODS[0])
        last = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        last = last if kind.step == HOUR else last.replace(hour=0)
        return cls(kind, tuple(last - kind.step * back for back in reversed(range(kind.steps))))

    @property
    def start(self) -> datetime:
        return self.starts[0]

    @cached_property
    def labels(self) -> list[BucketLabel]:
        """The labels of the steps, written once for all charts."""
        write = format_day_time if self.kind.step == HOUR else format_day
        return [BucketLabel(start.isoformat(), write(start, "MMMd")) for start in self.starts]


class BucketStart(Func):
    """The beginning of the period's step that holds a moment; no moment may lie before the period."""

    function = "date_bin"
    output_field = DateTimeField()

    def __init__(self, moment: str, period: Period) -> None:
        super().__init__(period.kind.step, moment, period.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What was counted in each step; `look` is the CSS class of its colour: `plain`, `good` or `bad`."""

    label: StrOrPromise
    counts: Counts
    look: str = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSource:
    """A chart of the console's home page; `series` reads stored counts, in one statement."""

    name: str
    label: StrOrPromise
    order: int
    url_name: str
    series: Callable[[Agency, Period], Sequence[Series]]


chart_sources = Registry[ChartSource](
    "charts",
    called="`charts_of` calls `series` of each for the console's home page, by their `order`",
    transaction="none",
    failure="the page answers 500",
)


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawn chart: a path with its colour class for each series, and the same numbers as rows of a table."""

    source: ChartSource
    totals: list[tuple[Series, int]]
    paths: list[tuple[str, str]]
    rows: list[tuple[BucketLabel, list[int]]]

    @property
    def is_empty(self) -> bool:
        return not any(total for _, total in self.totals)


def charts_of(agency: Agency, period: Period) -> list[Chart]:
    return [draw(source, source.series(agency, period), period) for source in in_order(chart_sources)]


def draw(source: ChartSource, series: Sequence[Series], period: Period) -> Chart:
    """Stack the series of each step; the highest stack is as high as the chart."""
    numbers = [[one.counts.get(start, 0) for one in series] for start in period.starts]
    highest = max(max(map(sum, numbers)), 1)
    width = WIDTH / len(numbers)
    bars: list[list[str]] = [[] for _ in series]
    for step, parts in enumerate(numbers):
        for place, bar in stacked(parts, highest, x=step * width, width=width):
            bars[place].append(bar)
    paths = [(one.look, "".join(drawn)) for one, drawn in zip(series, bars, strict=True)]
    totals = [(one, sum(parts[place] for parts in numbers)) for place, one in enumerate(series)]
    return Chart(source, totals, paths, list(zip(period.labels, numbers, strict=True)))


def stacked(numbers: list[int], highest: int, *, x: float, width: float) -> Iterator[tuple[int, str]]:
    """Stack one step's numbers as paths; a number above 0 is at least a pixel and a half high."""
    base, wide = float(HEIGHT), width * 0.8
    for place, number in enumerate(numbers):
        if number:
            height = max(1.5, (HEIGHT - 3) * number / highest)
            base -= height
            yield place, f"M{x + width * 0.1:.2f} {base:.2f}h{wide:.2f}v{height:.2f}h-{wide:.2f}z"


def counted_series(*shown: tuple[str, StrOrPromise, str]) -> Callable[[Agency, Period], Sequence[Series]]:
    """Return a chart's reader of hourly counts; each argument is a counter's name, its label and its colour class."""

    def read(agency: Agency, period: Period) -> Sequence[Series]:
        names = [name for name, _, _ in shown]
        rows = HourlyCount.objects.filter(agency=agency, name__in=names, hour__gte=period.start)
        counts: dict[str, dict[datetime, int]] = defaultdict(dict)
        summed = rows.annotate(step=BucketStart("hour", period)).order_by().values_list("name", "step")
        for name, step, number in summed.annotate(total=Sum("number")):
            counts[name][step] = number
        return [Series(label=label, counts=counts[name], look=look) for name, label, look in shown]

    return read

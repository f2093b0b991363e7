"""Charts of hourly counts."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime

from django.db.models import Sum

from agency.models import Agency, HourlyCount
from agency.pages.charts.drawing import Period, Series, StepOf
from agency.pages.registry import StrOrPromise


def counted_series(*shown: tuple[str, StrOrPromise, str]) -> Callable[[Agency, Period], Sequence[Series]]:
    """Return a chart's reader of hourly counts; each argument is a counter's name, its label and its colour class."""

    def read(agency: Agency, period: Period) -> Sequence[Series]:
        names = [name for name, _, _ in shown]
        rows = HourlyCount.objects.filter(agency=agency, name__in=names, hour__gte=period.start)
        counts: dict[str, dict[datetime, int]] = defaultdict(dict)
        summed = rows.annotate(step=StepOf("hour", period)).order_by().values_list("name", "step")
        for name, step, number in summed.annotate(total=Sum("number")):
            counts[name][step] = number
        return [Series(label=label, counts=counts[name], look=look) for name, label, look in shown]

    return read

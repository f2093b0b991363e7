"""The chart of an agency's own deliveries by outcome."""

from collections.abc import Sequence

from django.db.models import Sum
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from agency.pages.charts import BucketStart, Period, Series
from webhooks.models import Endpoint, HourlyStats


def ended_deliveries(agency: Agency, period: Period) -> Sequence[Series]:
    own = Endpoint.objects.filter(agency=agency, workspace_id=None).values("pk")
    rows = HourlyStats.objects.filter(endpoint_id__in=own, hour__gte=period.start).order_by()
    summed = rows.annotate(step=BucketStart("hour", period)).values_list("step")
    ended = list(summed.annotate(good=Sum("successes"), bad=Sum("errors")))
    return [
        Series(label=_("delivered"), counts={step: good for step, good, _bad in ended}, look="good"),
        Series(label=_("failed"), counts={step: bad for step, _good, bad in ended}, look="bad"),
    ]

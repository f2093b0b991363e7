"""The chart of new sub-accounts."""

from collections.abc import Sequence

from django.db.models import Count
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from agency.pages.charts import BucketStart, Period, Series
from workspaces.subaccounts.models import Workspace


def new_workspaces(agency: Agency, period: Period) -> Sequence[Series]:
    """Count the sub-accounts created in each step of the period, from the index on their times."""
    rows = Workspace.objects.of(agency).filter(created_at__gte=period.start).order_by()
    counted = rows.annotate(step=BucketStart("created_at", period)).values_list("step").annotate(number=Count("*"))
    return [Series(label=_("created"), counts=dict(counted))]

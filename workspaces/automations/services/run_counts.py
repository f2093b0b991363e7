"""Reads the counts of automations over the last days: for each step and port, and for whole runs."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Final

from django.db.models import Sum

from workspaces.automations.models import Automation, AutomationCount

DAYS: Final = 30
# How often something happened, by step and port. The step is empty for whole runs.
Counts = Mapping[tuple[str, str], int]


def first_day(today: date) -> date:
    """The first of the days that are shown. The last one is today."""
    return today - timedelta(days=DAYS - 1)


def counts_of(automation: Automation, today: date) -> Counts:
    """Count an automation's steps and runs over the last days, all versions together, in one statement."""
    rows = AutomationCount.objects.filter(automation=automation, day__gte=first_day(today)).order_by()
    summed = rows.values_list("node", "port").annotate(total=Sum("number"))
    return {(node, port): total for node, port, total in summed}

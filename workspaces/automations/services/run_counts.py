"""Reads the counts of automations over the last days: for each step and port, and for whole runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from django.db.models import Sum
from django.utils.translation import gettext_lazy

from workspaces.automations.flows.flow import steps_of
from workspaces.automations.flows.presentation import node_title, port_label
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


TOTALS: Final = {
    "started": gettext_lazy("Started"),
    "completed": gettext_lazy("Completed"),
    "stopped": gettext_lazy("Stopped"),
    "failed": gettext_lazy("Failed"),
    "messages": gettext_lazy("Messages"),
    "handed_over": gettext_lazy("Handed over to people"),
}


@dataclass(frozen=True, slots=True)
class StepNumbers:
    """How many contacts came through a step, in all and by each port."""

    title: str
    number: int
    ports: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class AutomationNumbers:
    totals: list[tuple[Any, int]]
    steps: list[StepNumbers]


def automation_numbers(automation: Automation, today: date) -> AutomationNumbers:
    """Give an automation's numbers of the last days, and those of each step of its flow that runs."""
    counts = counts_of(automation, today)
    totals = [(label, counts.get(("", name), 0)) for name, label in TOTALS.items()]
    flow = automation.published.flow if automation.published else automation.draft
    steps = []
    for step in steps_of(flow):
        passed = {port: number for (node, port), number in counts.items() if node == step["id"]}
        if passed:
            # A step that waits is counted when it begins to wait, and again when it is left.
            arrived = passed.pop("", 0)
            ports = [(port_label(flow, step["id"], port), passed[port]) for port in sorted(passed)]
            steps.append(StepNumbers(node_title(flow, step["id"]), max(arrived, sum(passed.values())), ports))
    return AutomationNumbers(totals, steps)

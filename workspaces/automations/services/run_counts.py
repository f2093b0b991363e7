"""Adds up the counts of automations, and reads those of the last days: for each step and port, and for whole runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from django.db import connection
from django.db.models import Sum
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from config.postgresql.concurrency import AdvisoryLock
from workspaces.automations.flows.flow import steps_of
from workspaces.automations.flows.presentation import node_title, port_label
from workspaces.automations.models import Automation, AutomationCount

DAYS: Final = 30
# How often something happened, by step and port. The step is empty for whole runs.
Counts = Mapping[tuple[str, str], int]


# Batches of the engine whose counts are added in one transaction.
MOST_BATCHES: Final = 100
# One process at a time adds counts. What automations counted that are gone is dropped with them.
MERGE: Final = """
WITH turn AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(%s, 0) AS is_ours
), gone AS (
    DELETE FROM automations_pendingcount WHERE id = ANY (ARRAY (
        SELECT id FROM automations_pendingcount WHERE (SELECT is_ours FROM turn)
        ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED))
    RETURNING day, automations, versions, nodes, ports, numbers
), added AS MATERIALIZED (
    SELECT automation_id, version_id, gone.day, node, port, sum(number)::integer AS number
    FROM gone CROSS JOIN unnest(automations, versions, nodes, ports, numbers)
        AS counted (automation_id, version_id, node, port, number)
    GROUP BY automation_id, version_id, gone.day, node, port
), kept AS MATERIALIZED (
    SELECT version.id, version.automation_id FROM automations_automationversion version
    JOIN automations_automation automation ON automation.id = version.automation_id
    WHERE version.id IN (SELECT version_id FROM added)
    ORDER BY version.automation_id, version.id FOR KEY SHARE
), written AS (
    INSERT INTO automations_automationcount AS known (automation_id, version_id, day, node, port, number)
    SELECT added.automation_id, added.version_id, added.day, added.node, added.port, added.number
    FROM added JOIN kept ON kept.id = added.version_id AND kept.automation_id = added.automation_id
    ORDER BY added.automation_id, added.version_id, added.day, added.node, added.port
    ON CONFLICT (automation_id, version_id, day, node, port) DO UPDATE SET number = known.number + EXCLUDED.number
)
SELECT count(*) FROM gone
"""


def merge_counts(*, most: int = MOST_BATCHES) -> int:
    """Add what batches of the engine have counted to the counts of their days. Return of how many batches."""
    with connection.cursor() as cursor:
        cursor.execute(MERGE, [AdvisoryLock.AUTOMATION_COUNTS.value, most])
        return int(cursor.fetchone()[0])


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
    totals: Sequence[tuple[Promise, int]]
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

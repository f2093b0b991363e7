"""Counts what a pack's automations did at the customers who installed them, over the last days."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Count

from packs.models import Pack
from packs.services.new_versions import installs_behind
from packs.services.queries import EntryView
from workspaces.automations.models import Automation
from workspaces.automations.services.run_counts import first_day

# At most so many installed automations are counted, beginning with the newest.
MOST_INSTALLED: Final = 2_000
COUNTS: Final = """
SELECT installed.from_entry, counted.day, counted.port, sum(counted.number)
FROM (
    SELECT automation.id, automation.from_entry FROM automations_automation AS automation
    JOIN subaccounts_workspace AS workspace ON workspace.id = automation.workspace_id
    WHERE automation.from_pack = %s AND workspace.agency_id = %s
    ORDER BY automation.id DESC LIMIT %s
) AS installed
JOIN automations_automationcount AS counted ON counted.automation_id = installed.id
WHERE counted.day >= %s AND counted.node = ''
GROUP BY 1, 2, 3
"""


@dataclass(slots=True)
class EntryResults:
    """What one automation of a pack did, in all places where it is installed. `behind` have an older version."""

    name: str
    installs: int = 0
    behind: int = 0
    totals: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def started(self) -> int:
        return self.totals["started"]

    @property
    def messages(self) -> int:
        return self.totals["messages"]

    @property
    def handed_over(self) -> int:
        return self.totals["handed_over"]

    @property
    def failed(self) -> int:
        return self.totals["failed"]


@dataclass(frozen=True, slots=True)
class PackResults:
    """`entries` has a row for each automation of the pack, in their order. `days` has the sums of each day, by name.

    Automations whose entry is no longer in the pack count as `removed`. `is_capped` says that older installs were left
    out.
    """

    entries: Sequence[EntryResults]
    removed: EntryResults
    days: Mapping[str, Mapping[datetime, int]]
    is_capped: bool


def results_of(pack: Pack, entries: Sequence[EntryView], today: date) -> PackResults:
    """Count a pack's results in three statements."""
    installed = Automation.objects.filter(workspace__agency=pack.agency_id, from_pack=pack.uuid).order_by()
    installs: dict[UUID | None, int] = dict(installed.values_list("from_entry").annotate(Count("pk")))
    rows = {one.uuid: EntryResults(one.name) for one in entries}
    removed = EntryResults("")
    for entry, number in installs.items():
        (rows.get(entry, removed) if entry else removed).installs += number
    for entry, number in installs_behind(pack, {one.uuid: one.flow_digest for one in entries}).items():
        rows[entry].behind = number
    days: dict[str, dict[datetime, int]] = defaultdict(lambda: defaultdict(int))
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, [pack.uuid, pack.agency_id, MOST_INSTALLED, first_day(today)])
        for entry, day, port, number in cursor.fetchall():
            rows.get(entry, removed).totals[port] += number
            days[port][datetime(day.year, day.month, day.day, tzinfo=UTC)] += number
    return PackResults([*rows.values()], removed, days, sum(installs.values()) > MOST_INSTALLED)

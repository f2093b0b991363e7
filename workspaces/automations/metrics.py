"""Metrics of automations: what waits for an engine, what engines decided, and how runs ended."""

from typing import Final

from django.db.models import Exists, OuterRef

from config.metrics import MOST_COUNTED, Counter, Gauge, capped_count, oldest_seconds
from workspaces.automations.models import ContactQueue
from workspaces.subaccounts.models import Workspace

DUE: Final = ContactQueue.objects.filter(is_due=True, is_suspect=False)
# Contacts of suspended workspaces and agencies rightly wait. No index has all contacts in the order of time.
ACTIVE: Final = Workspace.objects.filter(pk=OuterRef("workspace_id"), status="active", agency__status="active")
SOME_DUE: Final = ContactQueue.objects.filter(Exists(ACTIVE), pk__in=DUE.values("pk")[:MOST_COUNTED])

METRICS_OF_AUTOMATIONS: Final = (
    Gauge(
        "automations_due",
        "Contacts whose automations are due and that no engine has worked on, counted up to 10,000.",
        read=lambda: capped_count(DUE),
    ),
    Gauge(
        "automations_due_oldest_seconds",
        "For how long the longest due among the first 10,000 contacts has waited for an engine of automations.",
        read=lambda: oldest_seconds(SOME_DUE, "due_since"),
    ),
    Counter(
        "automation_facts_total",
        "Facts that engines of automations have decided about, by what became of them.",
        label="outcome",
    ),
    Counter(
        "automation_runs_total",
        "What happened to runs of automations: started, completed, stopped or failed.",
        label="state",
    ),
)

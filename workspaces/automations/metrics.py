"""Metrics of automations: what waits for an engine, what engines decided, how runs ended, and outside calls."""

from typing import Final

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from config.metrics import MOST_COUNTED, Counter, Gauge, Histogram, capped_count, oldest_seconds
from workspaces.automations.models import AiAccount, ContactQueue, OutsideCall
from workspaces.subaccounts.models import Workspace

DUE: Final = ContactQueue.objects.filter(is_due=True, is_suspect=False)
# Contacts of suspended workspaces and agencies rightly wait. No index has all contacts in the order of time.
ACTIVE: Final = Workspace.objects.filter(pk=OuterRef("workspace_id"), status="active", agency__status="active")
SOME_DUE: Final = ContactQueue.objects.filter(Exists(ACTIVE), pk__in=DUE.values("pk")[:MOST_COUNTED])


def _due_calls() -> QuerySet[OutsideCall]:
    return OutsideCall.objects.filter(status=OutsideCall.Status.PLANNED, due_at__lte=Now())


AUTOMATION_METRICS: Final = (
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
    Gauge(
        "outside_calls_due",
        "Calls of other systems that are due and that nobody has claimed.",
        read=lambda: capped_count(_due_calls()),
    ),
    Gauge(
        "outside_calls_due_oldest_seconds",
        "For how long the oldest of them has been due.",
        read=lambda: oldest_seconds(_due_calls(), "due_at"),
        combine=max,
    ),
    Counter("outside_calls_total", "Calls of other systems that ended.", label="outcome"),
    Histogram("outside_call_seconds", "How long calls of other systems took.", label="kind"),
    Gauge(
        "ai_accounts_stopped",
        "A.I. accounts that nobody calls now, as their provider does not answer or refuses the key.",
        read=lambda: capped_count(AiAccount.objects.filter(stopped_until__gt=Now())),
    ),
)

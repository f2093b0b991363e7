"""Tells webhooks of failed runs, and switches off automations whose runs fail again and again."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.utils.translation import gettext_lazy as _

from agency.actors import SYSTEM
from agency.notification_kinds import NotificationKind
from agency.services import NewEvent, record_events, subscribed_events
from agency.services.notifications.recording import record_notification
from agency.tenants import Audience
from config.postgresql.arrays import integers
from workspaces.automations.models import Automation, AutomationRun
from workspaces.automations.services.drafts import lock_automation
from workspaces.automations.services.shown_runs import shown_runs
from workspaces.automations.services.switching import disable_automation
from workspaces.subaccounts.services import tenant_of

RUN_FAILED: Final = "automation.run_failed"
# An automation is switched off when so many of its latest runs have failed.
LATEST_RUNS: Final = 100
SWITCH_OFF_AT_FAILURES: Final = 20
SWITCHED_OFF: Final = "automation.switched_off_for_failures"
NOTIFICATION_KINDS: Final = (
    NotificationKind(
        name=SWITCHED_OFF,
        label=_("Automation switched off because it failed"),
        text=_("%(name)s failed repeatedly and was switched off. Check its runs."),
        url_name="app:automation",
        names_object=True,
        audience=Audience.WORKSPACE,
    ),
)


def record_run_failures(runs: Collection[int], now: datetime) -> int:
    """Record an event for each of these failed runs, by primary key, in the caller's transaction. Return how many.

    Only runs of workspaces with a subscriber are read.
    """
    keys = dict(AutomationRun.objects.filter(pk__in=runs).values_list("pk", "workspace_id")) if runs else {}
    subscribed = subscribed_events(set(keys.values()))
    told = [run for run, workspace in keys.items() if RUN_FAILED in subscribed.get(workspace, ())]
    if not told:
        return 0
    rows = AutomationRun.objects.filter(pk__in=told).order_by("pk")
    failed = shown_runs(rows.select_related("workspace", "automation__published"))
    return record_events(
        NewEvent(
            tenant=tenant_of(one.run.workspace),
            name=RUN_FAILED,
            data={"run": one, "automation": one.run.automation},
            occurred_at=now,
        )
        for one in failed
    )


# A contact who writes again and again reaches the caps on messages. That is no fault of the automation.
TOO_MANY_MESSAGES: Final = "too_many_messages_to_contact"
# Runs that ended before the automation was last changed or switched on do not count.
FAILING: Final = """
SELECT automation.id
FROM automations_automation AS automation
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE latest.status = 'failed' AND latest.error_code <> %s) AS failures
    FROM (
        SELECT run.status, run.error_code FROM automations_automationrun AS run
        WHERE run.automation_id = automation.id AND run.ended_at >= automation.updated_at
        ORDER BY run.ended_at DESC LIMIT %s
    ) AS latest
) AS ended
WHERE automation.id = ANY (%s::bigint[]) AND automation.enabled AND ended.failures >= %s
ORDER BY automation.id
"""


def switch_off_failing(automations: Collection[int], now: datetime) -> int:
    """Switch off those of these automations that fail again and again. Return how many.

    Each is switched off in a transaction of its own, which also notifies the workspace's people.
    """
    if not automations:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(FAILING, [TOO_MANY_MESSAGES, LATEST_RUNS, integers(automations), SWITCH_OFF_AT_FAILURES])
        failing = [row[0] for row in cursor.fetchall()]
    for automation in Automation.objects.filter(pk__in=failing).order_by("pk"):
        _switch_off(automation, now)
    return len(failing)


@transaction.atomic
def _switch_off(automation: Automation, now: datetime) -> None:
    if not lock_automation(automation).enabled:
        return
    changed = disable_automation(automation=automation, now=now, by=SYSTEM)
    record_notification(
        tenant=tenant_of(changed.workspace),
        kind=SWITCHED_OFF,
        key=f"{changed.uuid}:{now.isoformat()}",
        now=now,
        object_id=str(changed.uuid),
        data={"name": changed.name},
    )

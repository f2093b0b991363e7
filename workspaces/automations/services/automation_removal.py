"""Removes automations: for people at once, and their rows in batches."""

from typing import Final

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from agency.actors import Actor
from config.db import database_now
from workspaces.automations.models import Automation
from workspaces.automations.services.drafts import lock_automation, record_automation_activity
from workspaces.automations.services.run_control import StopReason, stop_runs_of_automation

# So many runs are stopped in the request. The task stops the others.
MOST_STOPPED_AT_ONCE: Final = 1_000
BATCH: Final = 2_000
# Each drafted or published flow may be large.
FLOWS: Final = 200
# In this order, because later rows are referenced by earlier ones. The automation's own row follows.
DELETE: Final = (
    (
        """WITH old AS MATERIALIZED (
            SELECT id FROM automations_automationrun
            WHERE automation_id = %(automation)s AND status NOT IN ('running', 'waiting')
            ORDER BY id DESC LIMIT %(batch)s FOR UPDATE
        ), steps AS (
            DELETE FROM automations_automationrunstep WHERE run_id IN (SELECT id FROM old)
        )
        DELETE FROM automations_automationrun WHERE id IN (SELECT id FROM old)""",
        BATCH,
    ),
    (
        """DELETE FROM automations_automationcount WHERE id = ANY (ARRAY (
            SELECT id FROM automations_automationcount WHERE automation_id = %(automation)s LIMIT %(batch)s))""",
        BATCH,
    ),
    (
        """DELETE FROM automations_draftrevision WHERE id = ANY (ARRAY (
            SELECT id FROM automations_draftrevision WHERE automation_id = %(automation)s LIMIT %(batch)s))""",
        FLOWS,
    ),
    (
        """DELETE FROM automations_automationversion WHERE id = ANY (ARRAY (
            SELECT id FROM automations_automationversion WHERE automation_id = %(automation)s LIMIT %(batch)s))""",
        FLOWS,
    ),
)


def remove_automation(*, automation: Automation, by: Actor) -> None:
    """Remove an automation, so that nobody sees it, it starts nothing, and its pack can install it again.

    Its runs are stopped. `delete_removed_rows` deletes the rows. Raises `AutomationNotFound`.
    """
    removed = _mark(automation, by)
    stop_runs_of_automation(
        automation=removed, reason=StopReason.REMOVED, most=MOST_STOPPED_AT_ONCE, now=database_now()
    )


@transaction.atomic
def _mark(automation: Automation, by: Actor) -> Automation:
    locked = lock_automation(automation)
    record_automation_activity(locked, "automation.removed", by)
    values = {"enabled": False, "published": None, "from_pack": None, "from_entry": None}
    Automation.objects.filter(pk=locked.pk).update(**values, removed_at=Now())
    return locked


def removed_automations() -> "QuerySet[Automation]":
    """Return the automations whose rows are to be deleted, in their order."""
    return Automation.with_removed.filter(removed_at__isnull=False).order_by("removed_at")


def delete_removed_rows() -> int:
    """Stop or delete a batch of rows of the automation that was removed first. Return how many.

    Each batch is a transaction. The automation's own row goes last, so that a process that dies leaves it to the next.
    """
    automation = removed_automations().first()
    if automation is None:
        return 0
    stopped = stop_runs_of_automation(
        automation=automation, reason=StopReason.REMOVED, most=MOST_STOPPED_AT_ONCE, now=database_now()
    )
    if stopped:
        return stopped
    try:
        with transaction.atomic():
            return _delete_batch(automation.pk)
    except IntegrityError:  # an engine that had not seen the removal has just started a run
        return 0


def _delete_batch(automation: int) -> int:
    for statement, batch in DELETE:
        with connection.cursor() as cursor:
            cursor.execute(statement, {"automation": automation, "batch": batch})
            if cursor.rowcount:
                return int(cursor.rowcount)
    # Django also deletes what higher apps keep of an automation.
    return removed_automations().filter(pk=automation).delete()[0]

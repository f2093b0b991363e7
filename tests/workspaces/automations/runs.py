"""Runs of automations as the engine leaves them in the database."""

from datetime import date, timedelta
from typing import Any

from django.utils.timezone import now

from workspaces.automations.models import Automation, AutomationCount, AutomationRun, AutomationRunStep
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel


def a_run(automation: Automation, contact: Contact, *, channel: Channel, **changes: Any) -> AutomationRun:
    """A run that waits at the first step for a moment tomorrow."""
    assert automation.published is not None
    values: dict[str, Any] = {
        "status": "waiting",
        "node": automation.published.flow["entry"],
        "wait_kind": "time",
        "wait_until": now() + timedelta(days=1),
        "started_by_kind": "contact",
        "started_by_label": "message",
    }
    return AutomationRun.objects.create(
        workspace=automation.workspace,
        automation=automation,
        version=automation.published,
        contact_id=contact.pk,
        channel_id=channel.pk,
        **{**values, **changes},
    )


def an_ended_run(
    automation: Automation, contact: Contact, *, channel: Channel, status: str = "completed", **changes: Any
) -> AutomationRun:
    error = {"error_code": "window_closed", "error_node": "x", "error_message": "The window is closed."}
    ended = {"status": status, "wait_kind": None, "wait_until": None, "ended_at": now()}
    return a_run(automation, contact, channel=channel, **{**ended, **(error if status == "failed" else {}), **changes})


def fail_run(run: AutomationRun) -> None:
    """Let a run fail at its step."""
    AutomationRun.objects.filter(pk=run.pk).update(
        status="failed",
        ended_at=now(),
        wait_kind=None,
        wait_until=None,
        error_code="window_closed",
        error_node=run.node,
        error_message="The 24-hour window of this conversation is closed.",
    )


def a_step_of(run: AutomationRun, seq: int, node: str, port: str = "", **changes: Any) -> AutomationRunStep:
    return AutomationRunStep.objects.create(run=run, seq=seq, node=node, port=port, at=now(), **changes)


def a_count(automation: Automation, number: int, *, day: date | None = None, node: str = "", port: str = "") -> None:
    """Count something in the published version, today unless `day` says otherwise."""
    assert automation.published is not None
    AutomationCount.objects.create(
        automation=automation,
        version=automation.published,
        day=day or now().date(),
        node=node,
        port=port,
        number=number,
    )

"""Runs that wait for outside calls, and the calls that their steps have planned."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any, Final

from django.db import transaction

from config.db import database_now
from tests.tenants import Tenant
from tests.waiting import until
from workspaces.automations.execution.types import CallAi, CallHttp, Schema
from workspaces.automations.models import AiAccount, AutomationRun, OutsideCall, TriggerEvent
from workspaces.automations.services.outside_calls import NewCall, plan_calls
from workspaces.subaccounts.models import Workspace

TOPICS: Final = ("prices", "opening hours", "other")
CLASSIFY: Final[Schema] = {
    "type": "object",
    "properties": {"topic": {"type": "string", "enum": list(TOPICS)}},
    "required": ["topic"],
    "additionalProperties": False,
}
ANSWER: Final[Schema] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["answer", "facts"],
    "additionalProperties": False,
}
FACTS: Final = {"price": "A haircut costs 35 euros.", "menu": "The price list is at https://salon.example.com/prices"}
_numbers = count(1)


def an_account(tenant: Tenant, url: str, **changes: Any) -> AiAccount:
    """An account of the agency at the sandbox, its default."""
    number = next(_numbers)
    values: dict[str, Any] = {
        "name": f"Account {number}",
        "name_key": f"account {number}",
        "provider": AiAccount.Provider.OPENAI,
        "base_url": f"{url}/ai/openai",
        "model": "small",
        "key": "sk-of-the-agency",
        "is_default": True,
        "input_price": Decimal(1),
        "output_price": Decimal(1),
        "monthly_budget": Decimal(100),
    }
    return AiAccount.objects.create(agency=tenant.agency, **(values | changes))


def a_run(tenant: Tenant, workspace: Workspace | None = None) -> AutomationRun:
    """A run that waits for a call."""
    automation = tenant.automation
    assert automation.published_id is not None
    return AutomationRun.objects.create(
        workspace=workspace or tenant.workspace,
        automation=automation,
        version_id=automation.published_id,
        contact_id=tenant.contact.pk,
        channel_id=tenant.channel.pk,
        subject=f"run {next(_numbers)}",
        status=AutomationRun.Status.RUNNING,
        node="ask",
        wait_kind=AutomationRun.WaitKind.CALL,
        wait_until=database_now() + timedelta(minutes=3),
        started_by_kind="contact",
    )


@transaction.atomic
def planned(tenant: Tenant, *effects: CallHttp | CallAi, workspace: Workspace | None = None) -> list[AutomationRun]:
    """Plan a call for each of as many runs."""
    runs = [a_run(tenant, workspace) for _ in effects]
    calls = [
        NewCall(
            run_id=run.pk,
            run_uuid=run.uuid,
            seq=3,
            agency_id=tenant.agency.pk,
            workspace_id=run.workspace_id,
            contact_id=run.contact_id,
            effect=effect,
        )
        for run, effect in zip(runs, effects, strict=True)
    ]
    plan_calls(calls, now=database_now())
    return runs


def classify(message: str, **changes: Any) -> CallAi:
    return CallAi(purpose="classify", instructions="Sort the message.", schema=CLASSIFY, message=message, **changes)


def answer(message: str, facts: Mapping[str, str] = FACTS) -> CallAi:
    return CallAi(purpose="answer", instructions="Be friendly.", schema=ANSWER, message=message, facts=facts)


def ended(run: AutomationRun) -> dict[str, Any]:
    """Wait for the end of a run's call; give the data of its one event without the run's own keys."""
    until(lambda: OutsideCall.objects.filter(run_id=run.pk, ended_at__isnull=False).exists(), what="the call to end")
    [event] = TriggerEvent.objects.filter(kind="call_ended", source_key=f"call:{run.pk}:3")
    assert event.contact_id == run.contact_id
    assert event.cause == run.pk
    data = dict(event.data or {})
    assert (data.pop("run"), data.pop("seq")) == (run.pk, 3)
    return data


def ask(tenant: Tenant, effect: CallHttp | CallAi) -> dict[str, Any]:
    """Plan a call and give its result."""
    [run] = planned(tenant, effect)
    return ended(run)


def refusal(code: str) -> dict[str, Any]:
    return {"ok": False, "result": {}, "code": code}

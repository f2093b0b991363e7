"""A killed dispatcher: its calls are made again, at most three times, and each run goes on exactly once."""

from functools import partial

import pytest
from django.db.models.functions import Now

from tests.processes.preloaded import Order, Preloaded
from tests.tenants import Tenant
from tests.waiting import until
from tests.workspaces.automations.calls.conftest import SHORT_MS, StartCalls
from tests.workspaces.automations.calls.planned import an_account, classify, ended, planned, refusal
from tools.sandbox import RunningSandbox
from workspaces.automations.models import AiUsage, OutsideCall

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
CALLER = "tests.workspaces.automations.calls.killed_calling"


def _has_asked(provider: RunningSandbox, number: int) -> bool:
    return len(provider.ledger()["calls"]) == number


def test_a_killed_dispatcher(
    a: Tenant, provider: RunningSandbox, start_calls: StartCalls, preloaded: Preloaded
) -> None:
    account = an_account(a, provider.url)
    [run] = planned(a, classify("prices sandbox:hang"))
    for number in (1, 2, 3):
        with preloaded.killed_at_end(Order(CALLER)):
            until(partial(_has_asked, provider, number), what="the call")
        call = OutsideCall.objects.get(run_id=run.pk)
        assert (call.status, call.tries) == ("claimed", number)
        OutsideCall.objects.update(due_at=Now())  # the claim's end comes
    start_calls(longest_ms=SHORT_MS)
    assert ended(run) == refusal("no_answer")
    assert OutsideCall.objects.get(run_id=run.pk).status == "unknown"
    assert _has_asked(provider, 3)
    usage = AiUsage.objects.get(account=account, workspace=None)
    assert (usage.calls, usage.reserved) == (3, 0)

"""A killed dispatcher: its calls are made again, at most three times, and each run goes on exactly once."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from django.db.models.functions import Now

from tests.processes.own_processes import start, variables
from tests.processes.starting import kill
from tests.tenants import Tenant
from tests.waiting import until
from tests.workspaces.automations.calls.conftest import StartCalls
from tests.workspaces.automations.calls.planned import an_account, classify, ended, planned, refusal
from tools.sandbox import RunningSandbox
from workspaces.automations.models import AiUsage, OutsideCall

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
CALLER = """
import django
django.setup()
from workspaces.automations.dispatcher.loop import run_calls
run_calls(should_stop=lambda: False)
"""


@contextmanager
def caller() -> Iterator[None]:
    """A dispatcher in a process of its own, which is killed at the end."""
    environment = {"DJANGO_SETTINGS_MODULE": "config.settings", "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8"}
    process = start(["-c", CALLER], {**variables(), **environment})
    try:
        yield
    finally:
        kill(process)


def _has_asked(provider: RunningSandbox, number: int) -> bool:
    return len(provider.ledger()["calls"]) == number


def test_a_killed_dispatcher(a: Tenant, provider: RunningSandbox, start_calls: StartCalls) -> None:
    account = an_account(a, provider.url)
    [run] = planned(a, classify("prices sandbox:hang"))
    for number in (1, 2, 3):
        with caller():
            until(partial(_has_asked, provider, number), what="the call")
        call = OutsideCall.objects.get(run_id=run.pk)
        assert (call.status, call.tries) == ("claimed", number)
        OutsideCall.objects.update(due_at=Now())  # the claim's end comes
    start_calls(longest_ms=1_500)
    assert ended(run) == refusal("no_answer")
    assert OutsideCall.objects.get(run_id=run.pk).status == "unknown"
    assert _has_asked(provider, 3)
    usage = AiUsage.objects.get(account=account, workspace=None)
    assert (usage.calls, usage.reserved) == (3, 0)

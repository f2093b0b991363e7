"""Claims: fair shares among workspaces, and results that count only while their claim holds."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils.timezone import now

from tests.tenants import Tenant
from tests.workspaces.automations.calls.planned import planned
from workspaces.automations.dispatcher.claiming import (
    MOST_OF_AGENCY,
    MOST_OF_PEER,
    MOST_OF_WORKSPACE,
    Candidate,
    Room,
    choose,
    claim_calls,
)
from workspaces.automations.execution.types import CallHttp
from workspaces.automations.models import OutsideCall, TriggerEvent
from workspaces.automations.services.outside_calls import CallResult, record_results

DUE = now()
CALL = CallHttp(method="POST", url="https://93.184.215.14/")


def due(workspace: int, number: int, *, agency: int = 1, peer: str = "") -> list[Candidate]:
    return [
        Candidate(workspace, peer or f"host:{workspace}.{one % 5}", workspace * 1000 + one, agency, DUE)
        for one in range(number)
    ]


def test_workspaces_take_turns_and_nobody_takes_all_places() -> None:
    chosen = choose([*due(1, 20), *due(2, 2), *due(3, 1, agency=2)], Room([], places=5))
    assert chosen == [1000, 2000, 3000, 1001, 2001]
    assert len(choose(due(1, 20), Room([], places=99))) == MOST_OF_WORKSPACE
    assert len(choose([one for key in range(20) for one in due(key, 8)], Room([], places=999))) == MOST_OF_AGENCY
    others = [one for key in range(20) for one in due(key, 4, agency=key, peer="host:slow")]
    assert len(choose(others, Room([], places=999))) == MOST_OF_PEER
    assert choose(due(1, 3), Room([(1, 1, "host:1.0", MOST_OF_WORKSPACE)], places=99)) == []


@pytest.mark.django_db(transaction=True)
def test_a_result_counts_once_and_only_while_its_claim_holds(a: Tenant) -> None:
    [run] = planned(a, CALL)
    first = claim_calls(worker=1, places=9, after=(0, ""))
    assert first is not None
    assert len(first.prepared) == 1
    assert claim_calls(worker=2, places=9, after=(0, "")) == first._replace(prepared=[], has_more=False)
    OutsideCall.objects.update(due_at=Now() - timedelta(seconds=1))
    second = claim_calls(worker=2, places=9, after=(0, ""))
    assert second is not None
    [again] = second.prepared
    assert again.headers == first.prepared[0].headers  # with the same Idempotency-Key
    late = CallResult(again.call_id, 1, result={"status": 200, "text": "late"})
    assert record_results([late], worker=1) == 0
    assert not TriggerEvent.objects.filter(kind="call_ended").exists()
    for number in (1, 0):
        assert record_results([late._replace(tries=2)], worker=2) == number
    assert TriggerEvent.objects.get(kind="call_ended").source_key == f"call:{run.pk}:3"


@pytest.mark.django_db(transaction=True)
def test_a_call_whose_time_is_over_is_not_made(a: Tenant) -> None:
    planned(a, CALL)
    OutsideCall.objects.update(deadline=Now())
    claim = claim_calls(worker=1, places=0, after=(0, ""))
    assert claim is not None
    assert ([one.code for one in claim.ended], list(claim.prepared)) == (["too_late"], [])

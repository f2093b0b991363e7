"""The state machine, through HTTP: every move in every state, and what each refusal says is to be done."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
import time_machine
from django.db import connections, transaction
from django.utils.timezone import now

from agency.models import ActivityEntry
from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.services.counts import counts_of
from broadcasts.services.moving import pause_for_fault, skip_next_cancelled
from broadcasts.services.progress import begin_broadcast, begin_due_broadcasts
from channelconnect.models import MessageTemplate
from config.db import database_now
from tests import furnished
from tests.broadcasts.making import a_template, bring_to, create, prepare, row_of, some_contacts
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, wait_for_lock
from tests.workspaces.topics import recorded_events, subscribe_to
from workspaces.subaccounts.models import Channel

a = furnished.a_with_channel

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
STATES = ("Draft", "Scheduled", "sending", "paused", "sent", "cancelled")
MOVES = ("schedule", "approve", "pause", "resume", "cancel", "change", "delete")
UNDER_WAY = "This broadcast is under way already."
HAS_ENDED = "Only a draft can be changed or deleted, and this broadcast has ended."
NOT_CHANGED = "Only a draft can be changed. Cancel this broadcast, and create another one."
NOT_DELETED = "Only a draft can be deleted. This broadcast can be cancelled."
SENT = "This broadcast has been sent. Create another one."
CANCELLED = "This broadcast was cancelled. Create another one."
ALLOWED = {*STATES, "gone"}
# A time that is ahead whenever these tests run.
AHEAD = datetime(now().year + 2, 1, 1, 8, tzinfo=UTC)
# What comes of each move in each state: the state afterwards, or the refusal.
TABLE: dict[tuple[str, str], str] = {
    ("Draft", "schedule"): "Scheduled",
    ("Scheduled", "schedule"): "This broadcast has been scheduled already.",
    ("sending", "schedule"): UNDER_WAY,
    ("paused", "schedule"): "This broadcast is under way already. Resume it.",
    ("Draft", "approve"): "Draft",
    ("Scheduled", "approve"): "Scheduled",
    ("sending", "approve"): UNDER_WAY,
    ("paused", "approve"): UNDER_WAY,
    ("Draft", "pause"): "This broadcast is a draft: nothing of it is being sent.",
    ("Scheduled", "pause"): "This broadcast has not begun. Cancel it to keep it from being sent.",
    ("sending", "pause"): "paused",
    ("paused", "pause"): "This broadcast is paused already.",
    ("Draft", "resume"): "This broadcast is a draft. Schedule it.",
    ("Scheduled", "resume"): "This broadcast has not begun, and begins by itself.",
    ("sending", "resume"): "This broadcast is not paused.",
    ("paused", "resume"): "sending",
    ("Draft", "cancel"): "This broadcast is a draft. Delete it.",
    ("Scheduled", "cancel"): "cancelled",
    ("sending", "cancel"): "cancelled",
    ("paused", "cancel"): "cancelled",
    ("Draft", "change"): "Draft",
    ("Draft", "delete"): "gone",
    **{(state, "change"): NOT_CHANGED for state in ("Scheduled", "sending", "paused")},
    **{(state, "delete"): NOT_DELETED for state in ("Scheduled", "sending", "paused")},
    **{(state, move): HAS_ENDED for state in ("sent", "cancelled") for move in ("change", "delete")},
    **{("sent", move): SENT for move in MOVES[:5]},
    **{("cancelled", move): CANCELLED for move in MOVES[:5]},
}


def move(a: Tenant, shown: dict[str, Any], name: str, **headers: str) -> Any:
    path = f"/broadcasts/{shown['id']}"
    if name == "change":
        return a.workspace_api.patch(path, {"name": "Renamed"})
    if name == "delete":
        return a.workspace_api.delete(path)
    return a.workspace_api.post(f"{path}/{name}", **headers)


def moved(a: Tenant, shown: dict[str, Any], name: str) -> dict[str, Any]:
    answer = move(a, shown, name)
    assert answer.status_code == 200, answer.content
    data: dict[str, Any] = answer.json()["data"]
    return data


def refusal(a: Tenant, shown: dict[str, Any], name: str) -> str:
    answer = move(a, shown, name)
    assert answer.status_code == 409, answer.content
    message: str = answer.json()["message"]
    return message


class TestEveryMove:
    """All of them in all states, as the table says, and none with any other effect."""

    def test_the_table_is_whole(self) -> None:
        assert set(TABLE) == set(product(STATES, MOVES))

    @pytest.mark.parametrize("state", STATES)
    def test_what_the_table_refuses_changes_nothing(self, a: Tenant, state: str) -> None:
        refused = {name: said for name in MOVES if (said := TABLE[state, name]) not in ALLOWED}
        shown = create(a, requires_approval=True)
        bring_to(shown, state)
        before = Broadcast.objects.values().get()
        for name, said in refused.items():
            assert (name, refusal(a, shown, name)) == (name, said)
            assert Broadcast.objects.values().get() == before

    @pytest.mark.parametrize("state", STATES)
    def test_what_the_table_allows_leads_to_the_state_that_it_says(self, a: Tenant, state: str) -> None:
        allowed = {name: said for name in MOVES if (said := TABLE[state, name]) in ALLOWED}
        for name, said in allowed.items():
            shown = create(a, requires_approval=True)
            bring_to(shown, state)
            answer = move(a, shown, name)
            if said == "gone":
                assert (name, answer.json()) == (name, {"data": {"deleted": True}})
                assert not Broadcast.objects.filter(uuid=shown["id"]).exists()
            else:
                assert (name, answer.status_code, answer.json()["data"]["status"]) == (name, 200, said)
                assert row_of(shown).status == said


def test_scheduling_says_when_it_begins(a: Tenant) -> None:
    before = now()
    at_once_ = create(a)
    moved(a, at_once_, "schedule")
    due_at = row_of(at_once_).due_at
    assert due_at is not None
    assert before <= due_at <= now()
    later = create(a, scheduled_at="2027-01-01T09:00:00+01:00")
    assert moved(a, later, "schedule")["next_wave_at"] == "2027-01-01T08:00:00Z"


def schedule(a: Tenant, shown: dict[str, Any], **body: Any) -> Any:
    return a.workspace_api.post(f"/broadcasts/{shown['id']}/schedule", body)


def test_scheduling_takes_the_time_along(a: Tenant) -> None:
    shown = create(a, requires_approval=True)
    moved(a, shown, "approve")
    answer = schedule(a, shown, scheduled_at="2027-01-01T09:00:00+01:00")
    data = answer.json()["data"]
    assert (answer.status_code, data["status"], data["scheduled_at"]) == (200, "Scheduled", "2027-01-01T08:00:00Z")
    assert data["approved_at"] is None
    assert row_of(shown).due_at == datetime(2027, 1, 1, 8, tzinfo=UTC)
    local = create(a)
    wall = {"timezone_mode": "contact", "scheduled_local_at": "2027-01-01 09:00:00"}
    data = schedule(a, local, **wall, scheduled_at="not looked at").json()["data"]
    assert {name: data[name] for name in wall} == wall
    assert data["scheduled_at"] == "2026-12-31T19:00:00Z"
    assert row_of(local).due_at == datetime(2026, 12, 31, 19, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scheduled_at": "2027-01-01T09:00:00"}, "scheduled_at"),
        ({"scheduled_at": 5}, "scheduled_at"),
        ({"timezone_mode": "contact"}, "scheduled_local_at"),
        ({"timezone_mode": "contact", "scheduled_local_at": "2027-01-01T09:00:00Z"}, "scheduled_local_at"),
        ({"timezone_mode": "local"}, "timezone_mode"),
        ({"timezone_mode": 5}, "timezone_mode"),
    ],
)
def test_a_time_that_is_none_schedules_nothing(a: Tenant, body: dict[str, Any], field: str) -> None:
    draft, scheduled = create(a), create(a, schedule=True, scheduled_at=AHEAD.isoformat())
    before = [row_of(draft).__dict__, row_of(scheduled).__dict__]
    for shown in (draft, scheduled):
        answer = schedule(a, shown, **body)
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    after = [row_of(draft).__dict__, row_of(scheduled).__dict__]
    assert [one | {"_state": None} for one in after] == [one | {"_state": None} for one in before]


def test_a_scheduled_one_is_moved_to_another_time(a: Tenant) -> None:
    subscribe_to(a.workspace, "broadcast.scheduled", "broadcast.updated")
    moment = database_now().replace(microsecond=0)
    shown = create(a, schedule=True, scheduled_at=(moment + timedelta(minutes=2)).isoformat(), requires_approval=True)
    moved(a, shown, "approve")
    counted_at = row_of(shown).counted_at
    later = moment + timedelta(hours=5)
    data = schedule(a, shown, scheduled_at=later.isoformat()).json()["data"]
    assert (data["status"], data["approved_at"]) == ("Scheduled", None)
    row = row_of(shown)
    assert (row.due_at, row.scheduled_at, row.counted_at) == (later, later, counted_at)
    moved(a, shown, "approve")
    assert begin_due_broadcasts(now=moment + timedelta(minutes=3)) == 0
    [first, second] = recorded_events(a.workspace)
    assert (first[0], second[0]) == ("broadcast.scheduled", "broadcast.updated")
    assert list(second[1]["changes"]) == ["scheduled_at"]
    # The same time again changes nothing, and voids no approval.
    assert schedule(a, shown, scheduled_at=later.isoformat()).json()["data"]["approved_at"] is not None
    sooner = moment + timedelta(minutes=1)
    schedule(a, shown, scheduled_at=sooner.isoformat())
    moved(a, shown, "approve")
    assert begin_due_broadcasts(now=sooner) == 1
    assert row_of(shown).status == "sending"
    assert schedule(a, shown, scheduled_at=later.isoformat()).json()["message"] == UNDER_WAY


def test_one_that_begins_within_a_minute_stays(a: Tenant) -> None:
    shown = create(a, schedule=True, scheduled_at=(database_now() + timedelta(seconds=50)).isoformat())
    answer = schedule(a, shown, scheduled_at="2027-01-01T08:00:00Z")
    told = "This broadcast begins within a minute: its time stays. Cancel it, and create another one."
    assert (answer.status_code, answer.json()["message"]) == (409, told)


def test_what_cannot_be_sent_any_more_is_not_moved(a: Tenant) -> None:
    a_template(a.channel)
    message = {"template": "summer_sale", "language": "en_US"}
    shown = create(a, message=message, schedule=True, scheduled_at=AHEAD.isoformat())
    MessageTemplate.objects.update(status="paused")
    answer = schedule(a, shown, scheduled_at=(AHEAD + timedelta(days=1)).isoformat())
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["message.template"])
    assert row_of(shown).scheduled_at == AHEAD


@pytest.mark.django_db(transaction=True)
def test_a_new_time_waits_for_a_beginning_and_finds_it_under_way(a: Tenant) -> None:
    begins_at = database_now().replace(microsecond=0) + timedelta(hours=1)
    shown = create(a, schedule=True, scheduled_at=begins_at.isoformat())

    def set_another_time() -> Any:
        try:
            return schedule(a, shown, scheduled_at="2027-01-01T08:00:00Z")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert begin_broadcast(broadcast=row_of(shown).pk, now=begins_at)
            answer = pool.submit(set_another_time)
            wait_for_lock()
        assert answer.result(PATIENCE_SECONDS).json()["message"] == UNDER_WAY
    assert row_of(shown).scheduled_at == begins_at


@pytest.mark.parametrize("value", [True, "yes"])
def test_a_change_schedules_nothing_and_says_so(a: Tenant, value: Any) -> None:
    shown = create(a)
    answer = a.workspace_api.patch(f"/broadcasts/{shown['id']}", {"name": "Other", "schedule": value})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["schedule"])
    assert (row_of(shown).name, row_of(shown).status) == ("Sale", "Draft")
    for harmless in (False, None):
        answer = a.workspace_api.patch(f"/broadcasts/{shown['id']}", {"schedule": harmless})
        assert (answer.status_code, answer.json()["data"]["status"]) == (200, "Draft")


def test_the_document_shows_what_scheduling_takes(a: Tenant) -> None:
    document = a.workspace_api.get("/openapi.json").json()
    body = document["paths"]["/api/v1/broadcasts/{broadcast}/schedule"]["post"]["requestBody"]
    name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    properties = document["components"]["schemas"][name]["properties"]
    assert set(properties) == {"timezone_mode", "scheduled_at", "scheduled_local_at"}
    assert not body.get("required")


def test_it_is_due_by_the_database_s_clock_alone(a: Tenant) -> None:
    """The clock of the host that answers may be wrong."""
    by_hand = create(a)
    with time_machine.travel(now() + timedelta(minutes=20)):
        moved(a, by_hand, "schedule")
        at_once_ = create(a, schedule=True)
    for shown in (by_hand, at_once_):
        found = row_of(shown)
        assert found.due_at is not None
        assert found.counted_at is not None
        assert max(found.due_at, found.counted_at) <= database_now()


def test_what_cannot_be_sent_any_more_is_not_scheduled(a: Tenant) -> None:
    a_template(a.channel)
    shown = create(a, message={"template": "summer_sale", "language": "en_US"})
    MessageTemplate.objects.update(status="paused")
    answer = move(a, shown, "schedule")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["message.template"])
    MessageTemplate.objects.update(status="approved")
    Channel.objects.filter(pk=a.channel.pk).update(status="error")
    answer = move(a, shown, "schedule")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["channel"])
    assert row_of(shown).status == "Draft"


def test_approval_is_asked_for_once_and_voided_by_an_edit(a: Tenant) -> None:
    assert refusal(a, create(a), "approve") == "This broadcast needs no approval."
    shown = create(a, requires_approval=True)
    assert moved(a, shown, "approve")["approved_at"] is not None
    assert row_of(shown).approved_by == "Shop"
    assert refusal(a, shown, "approve") == "This broadcast has been approved already."
    unchanged = a.workspace_api.patch(f"/broadcasts/{shown['id']}", {"name": "Sale"})
    assert unchanged.json()["data"]["approved_at"] is not None
    changed = a.workspace_api.patch(f"/broadcasts/{shown['id']}", {"message": {"text": "Something else"}})
    assert changed.json()["data"]["approved_at"] is None
    moved(a, shown, "schedule")
    moved(a, shown, "approve")


def test_a_pause_keeps_its_reason_until_it_ends(a: Tenant) -> None:
    shown = create(a)
    other = create(a)
    ids = [bring_to(shown, "sending").pk, bring_to(other, "paused").pk]
    [paused] = pause_for_fault(ids, "The channel was disconnected.", now())
    assert paused.pk == ids[0]
    read = a.workspace_api.get(f"/broadcasts/{shown['id']}").json()["data"]
    assert (read["status"], read["paused_reason"]) == ("paused", "The channel was disconnected.")
    Channel.objects.filter(pk=a.channel.pk).update(status="error")
    told = "The channel of this broadcast is not connected. Connect it again, and resume then."
    assert refusal(a, shown, "resume") == told
    Channel.objects.filter(pk=a.channel.pk).update(status="active")
    assert moved(a, shown, "resume")["paused_reason"] is None
    assert pause_for_fault([ids[1]], "Again", now()) == []


def test_whom_a_cancelled_broadcast_has_not_reached_is_skipped(a: Tenant) -> None:
    subscribe_to(a.workspace, "broadcast.recipient_skipped")
    shown = create(a)
    broadcast = bring_to(shown, "sending")
    people = some_contacts(a, 6)
    prepare(broadcast, people[:2])
    prepare(broadcast, people[2:4], stage=Stage.HELD)
    prepare(broadcast, people[4:5], stage=Stage.DONE, status="sent")
    prepare(broadcast, people[5:], stage=Stage.CLAIMED)
    moved(a, shown, "cancel")
    while skip_next_cancelled(now=now()):
        pass
    found = Recipient.objects.of(broadcast).order_by("contact_id").values_list("status", "skip_reason")
    assert list(found) == [("skipped", "cancelled")] * 4 + [("sent", None), ("pending", None)]
    counts = counts_of([broadcast])[broadcast.pk]
    assert (counts["skipped"], counts["sent"], counts["pending"], counts["held"]) == (4, 1, 1, 0)
    # What is at the provider may turn out not to have left: then it is skipped, too.
    assert row_of(shown).next_due_at is not None
    Recipient.objects.of(broadcast).filter(stage=Stage.CLAIMED).update(stage=Stage.READY)
    assert skip_next_cancelled(now=now())
    assert not skip_next_cancelled(now=now())
    assert row_of(shown).next_due_at is None
    events = recorded_events(a.workspace)
    assert [data["recipient"]["skip_reason"] for _, data in events] == ["cancelled"] * 5
    assert {data["broadcast"]["id"] for _, data in events} == {shown["id"]}


def test_what_has_not_begun_leaves_nobody_to_skip(a: Tenant) -> None:
    shown = create(a, schedule=True)
    cancelled = moved(a, shown, "cancel")
    assert cancelled["completed_at"] is not None
    assert row_of(shown).next_due_at is None


def test_a_move_is_made_once_per_key(a: Tenant) -> None:
    shown = create(a)
    first = move(a, shown, "schedule", Idempotency_Key="one")
    again = move(a, shown, "schedule", Idempotency_Key="one")
    assert (first.status_code, again.json()) == (200, first.json())


def test_each_move_is_an_event_and_an_activity(a: Tenant) -> None:
    names = ("created", "updated", "deleted", "scheduled", "approved", "paused", "resumed", "cancelled")
    subscribe_to(a.workspace, *[f"broadcast.{name}" for name in names])
    shown = create(a, requires_approval=True)
    for name in ("change", "approve", "schedule"):
        move(a, shown, name)
    bring_to(shown, "sending")
    for name in ("pause", "resume", "cancel"):
        move(a, shown, name)
    move(a, create(a), "delete")
    told = recorded_events(a.workspace)
    order = ["created", "updated", "approved", "scheduled", "paused", "resumed", "cancelled", "created", "deleted"]
    assert [name.removeprefix("broadcast.") for name, _ in told] == order
    assert [data["broadcast"]["status"] for _, data in told] == [
        "Draft", "Draft", "Draft", "Scheduled", "paused", "sending", "cancelled", "Draft", "Draft",
    ]  # fmt: skip
    assert told[1][1]["changes"] == {"name": {"from": "Sale", "to": "Renamed"}}
    actions = ActivityEntry.objects.filter(target_kind="broadcast").order_by("id").values_list("action", "actor_label")
    assert list(actions) == [(f"broadcast.{name}", "Shop") for name in order]


@pytest.mark.django_db(transaction=True)
def test_of_many_who_move_it_at_once_one_does(a: Tenant) -> None:
    shown = create(a)
    api = a.workspace_api
    answers = at_once(lambda _: api.post(f"/broadcasts/{shown['id']}/schedule").status_code, times=6)
    assert sorted(answers) == [200, 409, 409, 409, 409, 409]
    bring_to(shown, "sending")
    moves = ("pause", "cancel")
    answers = at_once(lambda number: api.post(f"/broadcasts/{shown['id']}/{moves[number % 2]}").status_code, times=6)
    assert answers.count(200) in (1, 2)
    assert row_of(shown).status == "cancelled"

"""Bulk changes: chosen by hand or by filters, shown and counted first, done one by one, stopped at any moment."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, BulkOperation, Member
from agency.services import archive_item, suspend_agency
from agency.services.bulk import run_batch
from agency.services.jobs import JobScheduler
from agency.services.retention import forget_bulk_operations
from agency.tasks import run_jobs
from tests.agency.console.browsers import at_the_console, flashes, hidden, text
from tests.agency.jobs.asking import NEW, begin, choice, done, outcome
from tests.factories import PlanFactory, WorkspaceFactory, many_workspaces
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import suspend_workspace

pytestmark = pytest.mark.django_db
SUSPEND = "sub_accounts.suspend"


def test_a_list_offers_what_can_be_done_with_what_is_ticked_or_matches(
    a: Tenant, admin: Client, viewer: Client
) -> None:
    WorkspaceFactory.create(agency=a.agency, plan=a.plan)
    a.workspace.refresh_from_db()
    page = admin.get(f"/console/sub-accounts?status=active&plan={a.plan.uuid}")
    assert f'name="item" value="{a.workspace.uuid}"' in page.content.decode()
    assert "Select all 2 results" in text(page)
    assert f'name="query" value="status=active&amp;plan={a.plan.uuid}"' in page.content.decode()
    assert '<option value="">Choose an action</option>' in page.content.decode()
    labels = re.findall(r"<option value=\"sub_accounts\.\w+\">([^<]+)", page.content.decode())
    assert labels == [
        "Suspend", "Restore", "Assign a plan", "Grant an add-on", "Revoke an add-on", "Write to the owners",
    ]  # fmt: skip
    assert 'name="item"' not in viewer.get("/console/sub-accounts").content.decode()


def test_before_anything_is_done_it_is_counted_and_shown(a: Tenant, b: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 30)
    foreign, before = b.workspace, now()
    page = admin.get(choice(SUSPEND, query="status=active"))
    shown = text(page)
    assert "Sub-accounts: 30 are selected" in shown
    assert "Only the first 10 are shown." in shown
    assert len(re.findall(r'<li><a href="/console/sub-accounts/', page.content.decode())) == 10
    assert foreign.name not in shown
    assert not Workspace.objects.filter(status="suspended").exists()
    assert not BulkOperation.objects.filter(created_at__gt=before).exists()


def test_all_that_match_are_changed_and_each_result_is_shown(a: Tenant, b: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 23)
    idle = WorkspaceFactory.create(agency=a.agency, name="Idle")
    suspend_workspace(workspace=idle, now=now(), by=SYSTEM)
    foreign = b.workspace
    operation = begin(admin, choice(SUSPEND), reason="Not paid")
    assert outcome(operation) == ("waiting", 0, 0, 0, 0)
    assert outcome(done(operation)) == ("completed", 24, 23, 1, 0)
    assert set(Workspace.objects.of(a.agency).values_list("status", flat=True)) == {"suspended"}
    assert Workspace.objects.get(pk=foreign.pk).is_active
    page = admin.get(f"/console/bulk-changes/{operation.uuid}")
    assert "24 of 24 processed" in text(page)
    assert "http-equiv" not in page.content.decode()
    unchanged = text(admin.get(f"/console/bulk-changes/{operation.uuid}?state=unchanged"))
    assert "Idle Unchanged" in unchanged
    assert unchanged.count("Unchanged") == 3  # the count, the filter and the row
    assert "Suspend Completed 24 / 24" in text(admin.get("/console/bulk-changes"))


def test_those_that_were_picked_are_changed_and_no_others(a: Tenant, b: Tenant, admin: Client) -> None:
    one, other = (WorkspaceFactory.create(agency=a.agency) for _ in range(2))
    operation = begin(admin, choice(SUSPEND, one, b.workspace), reason="")
    assert outcome(done(operation)) == ("completed", 1, 1, 0, 0)
    assert not Workspace.objects.get(pk=one.pk).is_active
    for left in (other, b.workspace):
        assert Workspace.objects.get(pk=left.pk).is_active


def test_what_is_made_after_the_page_was_shown_is_left_alone(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 2, since=now() - timedelta(minutes=1))
    address = choice(SUSPEND)
    page = admin.get(address)
    late = WorkspaceFactory.create(agency=a.agency)
    admin.post(address, {"until": hidden(page, "until"), "nonce": hidden(page, "nonce"), "reason": ""})
    run_jobs()
    assert outcome(BulkOperation.objects.get()) == ("completed", 2, 2, 0, 0)
    assert Workspace.objects.get(pk=late.pk).is_active


def test_filters_that_cannot_be_read_choose_nothing(a: Tenant, admin: Client) -> None:
    assert a.workspace.is_active
    for query in ("status=nothing", "search=%00", "created_after=yesterday", "plan=x"):
        address = choice(SUSPEND, query=query)
        assert "Nothing is selected." in text(admin.get(address)), query
        assert admin.post(address, {"reason": ""}).status_code == 422, query
    assert not BulkOperation.objects.exists()


def test_nothing_ticked_an_unknown_action_and_no_choice_at_all_say_so(a: Tenant, admin: Client) -> None:
    for address, words in {
        f"{NEW}?action={SUSPEND}": "Nothing is selected.",
        f"{NEW}?action=drop&all=1": "Choose the rows to change in their list.",
        NEW: "Choose the rows to change in their list.",
    }.items():
        page = admin.get(address)
        assert (page.status_code, words in text(page)) == (200, True)
        assert admin.post(address).status_code == 422


def test_a_form_is_sent_once(a: Tenant, admin: Client) -> None:
    assert a.workspace.is_active
    address = choice(SUSPEND)
    page = admin.get(address)
    sent = {"until": hidden(page, "until"), "nonce": hidden(page, "nonce"), "reason": ""}
    first, second = (admin.post(address, sent)["Location"] for _ in range(2))
    assert first == second
    assert BulkOperation.objects.count() == 1


def test_a_form_with_an_error_is_shown_again_and_nothing_begins(a: Tenant, admin: Client) -> None:
    assert a.workspace.is_active
    address = choice("sub_accounts.assign_plan")
    answer = admin.post(address, {"until": hidden(admin.get(address), "until")})
    assert answer.status_code == 422
    assert "1 is selected" in text(answer)
    assert not BulkOperation.objects.exists()


def test_a_failed_item_shows_the_error_message_of_the_api(a: Tenant, admin: Client) -> None:
    gold = PlanFactory.create(agency=a.agency, name="Gold")
    operation = begin(admin, choice("sub_accounts.assign_plan", a.workspace), plan=str(gold.uuid))
    archive_item(item=gold, now=now(), by=SYSTEM)
    assert outcome(done(operation)) == ("completed", 1, 0, 0, 1)
    assert f"{a.workspace.name} Failed Plan not found." in text(admin.get(f"/console/bulk-changes/{operation.uuid}"))


def test_a_cancelled_operation_leaves_the_rest_alone(a: Tenant, admin: Client, viewer: Client) -> None:
    many_workspaces(a.agency, 25)
    operation = begin(admin, choice(SUSPEND), reason="")
    for _ in range(2):
        assert run_batch(operation.pk, now=now())
    page = admin.get(f"/console/bulk-changes/{operation.uuid}")
    assert "10 of 25 processed" in text(page)
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page.content.decode()
    assert viewer.post(f"/console/bulk-changes/{operation.uuid}/cancel").status_code == 403
    answer = admin.post(f"/console/bulk-changes/{operation.uuid}/cancel", follow=True)
    assert flashes(answer) == ["It was cancelled. Changes that were made stay."]
    assert "Skipped 15" in text(answer)
    assert outcome(done(operation)) == ("cancelled", 25, 10, 0, 0)
    assert Workspace.objects.of(a.agency).filter(status="suspended").count() == 10
    answer = admin.post(f"/console/bulk-changes/{operation.uuid}/cancel", follow=True)
    assert flashes(answer) == ["It has already ended."]
    actions = ActivityEntry.objects.filter(action__startswith="bulk_operation.").order_by("id")
    assert [(entry.action, entry.details) for entry in actions] == [
        ("bulk_operation.started", {"action": "Suspend", "number": 25}),
        ("bulk_operation.cancelled", {"done": 10, "left": 15}),
    ]


def test_a_cancellation_between_two_items_of_a_batch_counts_at_once(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 5)
    operation = begin(admin, choice(SUSPEND), reason="")
    assert run_batch(operation.pk, now=now())
    done_already = 0

    def cancel_after_two(execute, sql, params, many, context):  # type: ignore[no-untyped-def]  # Django's wrapper
        nonlocal done_already
        result = execute(sql, params, many, context)
        if sql.startswith('UPDATE "agency_bulkoperation" SET "succeeded"'):
            done_already += 1
            if done_already == 2:
                ended = BulkOperation.objects.filter(pk=operation.pk)
                ended.update(state="cancelled", ended_at=now())
        return result

    with connection.execute_wrapper(cancel_after_two):
        assert not run_batch(operation.pk, now=now())
    assert Workspace.objects.of(a.agency).filter(status="suspended").count() == 2
    operation.refresh_from_db()
    assert outcome(operation) == ("cancelled", 5, 2, 0, 0)


def _demote(member: Member) -> None:
    Member.objects.filter(pk=member.pk).update(role="viewer")


def _remove(member: Member) -> None:
    member.delete()


def _deactivate(member: Member) -> None:
    member.user.is_active = False
    member.user.save()


def _suspend(member: Member) -> None:
    suspend_agency(agency=member.agency, reason="", now=now(), by=SYSTEM)


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (_demote, "The person who started it may no longer do this."),
        (_remove, "The person who started it may no longer do this."),
        (_deactivate, "The person who started it may no longer do this."),
        (_suspend, "The agency is suspended."),
    ],
)
def test_who_may_do_it_is_judged_at_each_turn(a: Tenant, admin: Client, happens, reason: str) -> None:  # type: ignore[no-untyped-def]  # a lambda of above
    many_workspaces(a.agency, 15)
    operation = begin(admin, choice(SUSPEND), reason="")
    for _ in range(2):
        assert run_batch(operation.pk, now=now())
    happens(Member.objects.get(agency=a.agency, user=operation.created_by))
    assert outcome(done(operation)) == ("stopped", 15, 10, 0, 0)
    assert operation.stopped_because == reason
    assert Workspace.objects.of(a.agency).filter(status="suspended").count() == 10


def test_agencies_have_their_turns_whoever_has_how_much(a: Tenant, b: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 60)
    large = begin(admin, choice(SUSPEND), reason="")
    small = begin(at_the_console(b.agency), choice(SUSPEND, b.workspace), reason="")
    current = JobScheduler()
    for _ in range(6):
        current.go_on()
    large.refresh_from_db()
    small.refresh_from_db()
    assert (small.state, large.state) == ("completed", "running")
    assert large.done < 40


def test_a_fault_of_one_job_holds_up_no_other(a: Tenant, b: Tenant, admin: Client) -> None:
    broken = begin(admin, choice(SUSPEND, a.workspace), reason="")
    BulkOperation.objects.filter(pk=broken.pk).update(kind="no.such_action")
    other = begin(at_the_console(b.agency), choice(SUSPEND, b.workspace), reason="")
    assert done(other).state == "completed"
    broken.refresh_from_db()
    assert broken.state == "waiting"


def test_an_agency_has_five_operations_at_a_time(a: Tenant, b: Tenant, admin: Client) -> None:
    for _ in range(5):
        begin(admin, choice(SUSPEND, a.workspace), reason="")
    answer = admin.post(choice(SUSPEND, a.workspace), {"reason": ""})
    assert answer.status_code == 422
    assert "5 bulk changes are running." in text(answer)
    begin(at_the_console(b.agency), choice(SUSPEND, b.workspace), reason="")
    run_jobs()
    begin(admin, choice(SUSPEND, a.workspace), reason="")


def test_its_pages_take_as_many_statements_for_many_as_for_few(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 3)
    few = begin(admin, choice(SUSPEND), reason="")
    many_workspaces(a.agency, 40)
    many = done(begin(admin, choice(SUSPEND), reason=""))
    admin.get("/console/bulk-changes")  # a browser's first page writes down that it was seen
    counts = []
    for operation in (few, many):
        with CaptureQueriesContext(connection) as found:
            admin.get(f"/console/bulk-changes/{operation.uuid}")
        counts.append(len(found))
    assert counts[0] == counts[1] <= 10
    with CaptureQueriesContext(connection) as found:
        admin.get("/console/bulk-changes")
    assert len(found) <= 8


def test_operations_that_ended_are_forgotten_with_their_items_after_30_days(a: Tenant, admin: Client) -> None:
    old, recent = (begin(admin, choice(SUSPEND, a.workspace), reason="") for _ in range(2))
    run_jobs()
    active = begin(admin, choice(SUSPEND, a.workspace), reason="")
    BulkOperation.objects.filter(pk=old.pk).update(ended_at=now() - timedelta(days=31))
    BulkOperation.objects.filter(pk=recent.pk).update(ended_at=now() - timedelta(days=29))
    BulkOperation.objects.filter(pk=active.pk).update(created_at=now() - timedelta(days=31))
    assert forget_bulk_operations() == 1
    assert set(BulkOperation.objects.all()) == {recent, active}

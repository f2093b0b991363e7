"""Each verb on many sub-accounts does what the API's call does: the same events, activity, limits and refusals."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.core import mail as outbox
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Event, Mail
from agency.services.bulk import run_batch
from agency.tasks import send_mail
from tests import furnished
from tests.agency.console.browsers import at_the_console, text
from tests.agency.jobs.asking import begin, choice, done, outcome
from tests.factories import AddonFactory, PlanFactory, WorkspaceFactory, addon_limits, plan_limits
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import grant_addon, move_workspace, suspend_workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
STATE = ("status", "suspension_reason", "plan_id", "plan_limits", "limits")


@dataclass(frozen=True)
class Verb:
    """The API's call, and the form of the same action; `prepare` is done to both sub-accounts before."""

    action: str
    call: Callable[[Tenant, str], Any]
    fields: Callable[[Tenant], dict[str, str]] = lambda _: {}
    prepare: Callable[[Tenant, Workspace], Any] = lambda _a, _workspace: None


def _suspended(_: Tenant, workspace: Workspace) -> None:
    suspend_workspace(workspace=workspace, now=now(), by=SYSTEM)


def _holding(a: Tenant, workspace: Workspace) -> None:
    grant_addon(workspace=workspace, addon=a.addon, now=now(), by=SYSTEM)


def _addon(a: Tenant) -> dict[str, str]:
    return {"addon": str(a.addon.uuid)}


def _gold(a: Tenant) -> dict[str, str]:
    return {"plan": str(a.agency.plans.get(name="Gold").uuid)}


def _plan(a: Tenant) -> dict[str, str]:
    return {"plan": str(a.plan.uuid)}


def suspend(a: Tenant, path: str) -> Any:
    return a.api.post(f"{path}/suspend", {"reason": "Not paid"})


def restore(a: Tenant, path: str) -> Any:
    return a.api.post(f"{path}/restore")


def grant(a: Tenant, path: str) -> Any:
    return a.api.post(f"{path}/addons", _addon(a))


def revoke(a: Tenant, path: str) -> Any:
    return a.api.delete(f"{path}/addons/{a.addon.uuid}")


VERBS = {
    "suspend": Verb("suspend", suspend, lambda _: {"reason": "Not paid"}),
    "suspend again": Verb("suspend", suspend, lambda _: {"reason": "Not paid"}, _suspended),
    "restore": Verb("restore", restore, prepare=_suspended),
    "restore again": Verb("restore", restore),
    "another plan": Verb("assign_plan", lambda a, path: a.api.put(f"{path}/plan", _gold(a)), _gold),
    "the same plan": Verb("assign_plan", lambda a, path: a.api.put(f"{path}/plan", _plan(a)), _plan),
    "a plan, suspended": Verb("assign_plan", lambda a, path: a.api.put(f"{path}/plan", _gold(a)), _gold, _suspended),
    "grant": Verb("grant_addon", grant, _addon),
    "grant again": Verb("grant_addon", grant, _addon, _holding),
    "revoke": Verb("revoke_addon", revoke, _addon, _holding),
    "revoke what is not held": Verb("revoke_addon", revoke, _addon),
}


def left_behind(workspace: Workspace, events: int, entries: int) -> dict[str, Any]:
    """What a change leaves: the row, its events and its activity, without what tells two sub-accounts apart."""
    workspace.refresh_from_db()
    own = Event.objects.filter(workspace_uuid=workspace.uuid, pk__gt=events).order_by("pk")
    activity = ActivityEntry.objects.filter(workspace_uuid=workspace.uuid, pk__gt=entries).order_by("pk")
    bodies = [bytes(event.body).decode().partition('"data":')[2] for event in own]
    return {
        "row": [getattr(workspace, name) for name in STATE],
        "add-ons": [(held.addon_id, held.limits) for held in workspace.held_addons.order_by("pk")],
        "events": [event.name for event in own],
        "payloads": [body.replace(str(workspace.uuid), "").replace(workspace.name, "") for body in bodies],
        "activity": [(entry.action, entry.details, entry.changes, entry.target_kind) for entry in activity],
    }


def newest(model: Any) -> int:
    return model.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_leaves_behind_what_the_api_s_call_leaves(a: Tenant, admin: Client, name: str) -> None:
    verb = VERBS[name]
    PlanFactory.create(agency=a.agency, name="Gold", limits=plan_limits(contacts=7))
    by_call, by_bulk = (WorkspaceFactory.create(agency=a.agency, plan=a.plan) for _ in range(2))
    for workspace in (by_call, by_bulk):
        verb.prepare(a, workspace)
    before = newest(Event), newest(ActivityEntry)
    answer = verb.call(a, f"/workspaces/{by_call.uuid}")
    operation = begin(admin, choice(f"sub_accounts.{verb.action}", by_bulk), **verb.fields(a))
    done(operation)
    assert left_behind(by_bulk, *before) == left_behind(by_call, *before)
    changed = bool(left_behind(by_bulk, *before)["activity"])
    assert answer.status_code in {200, 201, 404}
    assert outcome(operation) == ("completed", 1, int(changed), int(not changed), 0)
    entry = ActivityEntry.objects.filter(workspace_uuid=by_bulk.uuid, pk__gt=before[1]).first()
    if entry:
        assert (entry.actor_kind, entry.actor_label) == ("user", operation.created_by.email)
        assert entry.address
        assert entry.request_id


def test_limits_are_those_of_the_service(a: Tenant, admin: Client) -> None:
    extra = AddonFactory.create(agency=a.agency, limits=addon_limits(contacts=500))
    workspace = WorkspaceFactory.create(agency=a.agency, plan=a.plan)
    before = workspace.limits["contacts"]
    done(begin(admin, choice("sub_accounts.grant_addon", workspace), addon=str(extra.uuid)))
    workspace.refresh_from_db()
    assert workspace.limits["contacts"] == before + 500


def test_a_sub_account_that_has_left_the_agency_is_not_found(a: Tenant, b: Tenant, admin: Client) -> None:
    workspace = WorkspaceFactory.create(agency=a.agency)
    operation = begin(admin, choice("sub_accounts.suspend", workspace), reason="")
    assert run_batch(operation.pk, now=now())
    move_workspace(workspace=workspace, agency=b.agency, now=now(), by=SYSTEM)
    done(operation)
    assert outcome(operation) == ("completed", 1, 0, 0, 1)
    page = text(admin.get(f"/console/bulk-changes/{operation.uuid}"))
    assert "No longer exists Failed Sub-account not found." in page
    assert workspace.name not in page


def test_plans_and_add_ons_of_others_are_neither_offered_nor_taken(a: Tenant, b: Tenant, admin: Client) -> None:
    address = choice("sub_accounts.assign_plan", a.workspace)
    assert b.plan.name not in text(admin.get(address))
    assert admin.post(address, {"plan": str(b.plan.uuid)}).status_code == 422


def test_owners_are_written_to_in_the_agency_s_name(a: Tenant, admin: Client) -> None:
    friend, waiting = (WorkspaceFactory.create(agency=a.agency) for _ in range(2))
    Workspace.objects.filter(pk=friend.pk).update(owner_pending_since=None)
    Workspace.objects.filter(pk=waiting.pk).update(owner_pending_since=now())
    Mail.objects.all().delete()
    message = "Prices change in May.\n\nSee <your> dashboard & tell us."
    operation = begin(admin, choice("sub_accounts.write", friend, waiting), text=message)
    done(operation)
    assert outcome(operation) == ("completed", 2, 1, 0, 1)
    assert "The owner has not accepted this sub-account yet." in text(
        admin.get(f"/console/bulk-changes/{operation.uuid}")
    )
    outbox.outbox.clear()
    send_mail()
    [sent] = outbox.outbox
    assert (sent.to, sent.subject) == ([friend.owner.email], "A message about your workspace")
    assert sent.from_email.startswith(a.agency.name) or a.agency.name in sent.from_email
    assert message in str(sent.body)
    assert f"{a.agency.name} writes to you about {friend.name}:" in str(sent.body)
    [entry] = ActivityEntry.objects.filter(action="workspace.message_sent")
    assert (entry.workspace_uuid, entry.details) == (friend.uuid, {})


def test_an_owner_gets_at_most_five_messages_a_day(a: Tenant) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(owner_pending_since=None)
    Mail.objects.all().delete()
    browser = at_the_console(a.agency)
    for _ in range(6):
        done(begin(browser, choice("sub_accounts.write", a.workspace), text="Hello"))
    outbox.outbox.clear()
    send_mail()
    assert len(outbox.outbox) == 5


def test_results_stand_in_the_order_in_which_the_list_showed_what_was_ticked(a: Tenant) -> None:
    names = ["Apple", "Cherry", "Banana"]
    made = {name: WorkspaceFactory.create(agency=a.agency, name=name) for name in names}
    admin, by_name = at_the_console(a.agency), sorted(names)
    address = choice("sub_accounts.suspend", *(made[name] for name in by_name))
    asked = text(admin.get(address))
    assert [asked.index(name) for name in by_name] == sorted(asked.index(name) for name in names)

    operation = begin(admin, address, reason="Not paid")
    done(operation)
    page = admin.get(f"/console/bulk-changes/{operation.uuid}")
    shown = text(page).partition("Results")[2]
    assert [shown.index(name) for name in by_name] == sorted(shown.index(name) for name in names)
    assert "in the order of the list" not in shown

"""Switching automations and their runs on the workspace surface."""

import uuid
from threading import Event
from typing import Any

import orjson
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event as RecordedEvent
from agency.models import NotificationEvent
from tests import furnished
from tests.factories import ContactFactory
from tests.factories.flows import a_flow, a_step
from tests.parallel import at_once
from tests.tenants import Tenant, message
from tests.waiting import PATIENCE_SECONDS, wait_for_lock
from tests.workspaces.automations.runs import a_run, a_step_of, an_ended_run, fail_run
from webhooks.services.endpoints import register_endpoint
from workspaces.automations.models import Automation, AutomationCount, AutomationRun, ContactQueue
from workspaces.automations.services import create_automation, enable_automation, publish_automation
from workspaces.automations.services.run_control import StopReason, stop_runs
from workspaces.automations.services.run_failures import record_run_failures, switch_off_failing
from workspaces.automations.services.trigger_events import queue_contacts
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation
from workspaces.subaccounts.services import tenant_of

a, b = furnished.a_with_channel, furnished.b_with_channel
FIELDS = ["id", "contact", "status", "started_by", "steps", "error", "started_at", "ended_at"]


@pytest.fixture
def automation(a: Tenant) -> Automation:
    return an_automation(a)


def an_automation(tenant: Tenant, *, is_on: bool = True) -> Automation:
    """Needs the tenant's WhatsApp channel."""
    assert tenant.channel.platform == "whatsapp"
    flow = a_flow(a_step("x", "send_text", {"next": "y"}, text="Hello"), a_step("y", "send_text", text="Bye"))
    made = create_automation(
        workspace=tenant.workspace, name="Greeting", platform="whatsapp", flow=flow, now=now(), by=SYSTEM
    )
    made = publish_automation(automation=made, now=now(), by=SYSTEM)
    return enable_automation(automation=made, now=now(), by=SYSTEM) if is_on else made


def a_contact(tenant: Tenant, **values: Any) -> Contact:
    made: Contact = ContactFactory.create(workspace=tenant.workspace, **values)
    return made


@pytest.mark.django_db(transaction=True)
def test_of_many_starts_at_once_one_starts(a: Tenant) -> None:
    made, contact = an_automation(a), a_contact(a, phone="+4930123456")

    def start(_: int) -> int:
        status: int = a.workspace_api.post(runs_of(made), {"contact": str(contact.uuid)}).status_code
        return status

    assert sorted(at_once(start, times=4)) == [201, 409, 409, 409]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("move", ["start", "stop"])
def test_a_move_waits_for_the_engine_and_sees_what_it_did(a: Tenant, move: str) -> None:
    """The engine holds the contact's row of the queue while it begins a run of another subject, or ends the run."""
    made, contact, is_held = an_automation(a), a_contact(a, phone="+4930123456"), Event()
    run = None if move == "start" else a_run(made, contact, channel=a.channel)
    queue_contacts({contact.pk: a.workspace.pk})

    def work(number: int) -> int:
        if number:
            assert is_held.wait(PATIENCE_SECONDS)
            path = runs_of(made) + (f"/{run.uuid}/stop" if run else "")
            status: int = a.workspace_api.post(path, {"contact": str(contact.uuid)}).status_code
            return status
        with transaction.atomic():
            ContactQueue.objects.select_for_update().get(pk=contact.pk)
            is_held.set()
            wait_for_lock()
            if run:
                fail_run(run)
            else:
                a_run(made, contact, channel=a.channel, subject="appointment:7")
        return 200

    assert at_once(work, times=2) == [200, 409]


def runs_of(automation: Automation) -> str:
    return f"/automations/{automation.uuid}/runs"


def test_an_automation_is_switched_on_and_off(a: Tenant) -> None:
    made = an_automation(a, is_on=False)
    contact = a_contact(a)
    a_run(made, contact, channel=a.channel)
    on = a.workspace_api.post(f"/automations/{made.uuid}/enable")
    assert (on.status_code, on.json()["data"]["enabled"], on.json()["data"]["missing"]) == (200, True, [])
    off = a.workspace_api.post(f"/automations/{made.uuid}/disable")
    assert (off.status_code, off.json()["data"]["enabled"]) == (200, False)
    assert AutomationRun.objects.get().status == "waiting"
    a.workspace_api.post(f"/automations/{made.uuid}/disable", {"stop_runs": True})
    assert AutomationRun.objects.values_list("status", "error_message").get() == ("stopped", "switched_off")


def test_an_automation_that_lacks_something_says_all_of_it(a: Tenant) -> None:
    flow = a_flow(a_step("x", "send_text", text="Come to {{workspace.address}}"))
    made = create_automation(
        workspace=a.workspace, name="Address", platform="telegram", flow=flow, now=now(), by=SYSTEM
    )
    publish_automation(automation=made, now=now(), by=SYSTEM)
    refused = a.workspace_api.post(f"/automations/{made.uuid}/enable")
    assert refused.status_code == 409
    assert message(refused) == (
        "Automations cannot send messages on Telegram yet. Connect a Telegram channel first. "
        "Fill in the address in the settings: step 1 needs it."
    )


def test_a_run_is_started_once_and_waits_for_the_engine(a: Tenant, automation: Automation) -> None:
    contact = a_contact(a, name="Ada", phone="+4930123456")
    body, key = {"contact": str(contact.uuid)}, {"Idempotency_Key": "again"}
    started = a.workspace_api.post(runs_of(automation), body, **key)
    again = a.workspace_api.post(runs_of(automation), body, **key)
    second = a.workspace_api.post(runs_of(automation), body)
    assert [answer.status_code for answer in (started, again, second)] == [201, 201, 409]
    assert message(second) == "This automation already runs for this contact."
    shown = started.json()["data"]
    assert (list(shown), again.json()["data"]) == (FIELDS, shown)
    assert shown["contact"] == {"id": str(contact.uuid), "name": "Ada", "phone": "+4930123456"}
    assert (shown["status"], shown["steps"], shown["error"], shown["ended_at"]) == ("running", [], None, None)
    assert shown["started_by"]["kind"] == "workspace_key"
    run = AutomationRun.objects.get()
    conversation = Conversation.objects.get(contact=contact)
    assert (run.node, run.seq, run.wait_kind, run.conversation_id) == ("x", 0, "begin", conversation.pk)
    assert run.channel_id == a.channel.pk
    assert ContactQueue.objects.filter(contact_id=contact.pk, is_due=True).exists()


def test_a_start_that_cannot_be_is_refused_with_the_reason(a: Tenant, b: Tenant, automation: Automation) -> None:
    off = an_automation(a, is_on=False)
    reachable = a_contact(a, phone="+4930123456")

    def refusal(made: Automation, contact: Contact) -> tuple[int, str]:
        answer = a.workspace_api.post(runs_of(made), {"contact": str(contact.uuid)})
        return answer.status_code, message(answer)

    assert refusal(off, reachable) == (409, "This automation is off. Switch it on first.")
    nowhere = a_contact(a, phone=None)
    assert refusal(automation, nowhere) == (409, "This contact cannot be reached on WhatsApp.")
    out = a_contact(a, phone="+4930123457", opted_out=True)
    assert refusal(automation, out) == (409, "This contact has opted out.")
    assert refusal(automation, a_contact(b, phone="+4930123458")) == (404, "Contact not found.")
    assert not AutomationRun.objects.exists()


def test_a_run_shows_its_steps_and_is_stopped_once(a: Tenant, automation: Automation) -> None:
    run = a_run(automation, a_contact(a), channel=a.channel, node="y", seq=2)
    a_step_of(run, 1, "x", "next")
    a_step_of(run, 2, "y")
    path = f"{runs_of(automation)}/{run.uuid}"
    shown = a.workspace_api.get(path).json()["data"]
    assert [(one["step"], one["outcome"]) for one in shown["steps"]] == [("x", "next"), ("y", "waiting")]
    assert shown["started_by"] == {"kind": "contact", "label": "message"}
    first, second = a.workspace_api.post(f"{path}/stop"), a.workspace_api.post(f"{path}/stop")
    assert (first.status_code, first.json()["data"]["status"]) == (200, "stopped")
    assert (second.status_code, message(second)) == (409, "This run has ended.")
    assert AutomationCount.objects.values_list("port", "number").get() == ("stopped", 1)
    retried = a.workspace_api.post(f"{path}/retry")
    assert (retried.status_code, message(retried)) == (409, "Only a run that has failed can be retried.")


def test_a_failed_run_goes_on_where_it_failed(a: Tenant, automation: Automation) -> None:
    contact = a_contact(a)
    run = an_ended_run(automation, contact, channel=a.channel, status="failed", seq=1, error_node="y")
    a_step_of(run, 1, "x", "next")
    path = f"{runs_of(automation)}/{run.uuid}"
    shown = a.workspace_api.get(path).json()["data"]
    assert [(one["step"], one["outcome"]) for one in shown["steps"]] == [("x", "next"), ("y", "failed")]
    assert shown["error"] == {"code": "window_closed", "step": "y", "message": "The window is closed."}
    other = a_run(automation, contact, channel=a.channel)
    refused = a.workspace_api.post(f"{path}/retry")
    assert (refused.status_code, message(refused)) == (409, "This automation already runs for this contact.")
    other.delete()
    assert a.workspace_api.post(f"{path}/retry").json()["data"]["status"] == "running"
    run.refresh_from_db()
    assert (run.node, run.seq, run.wait_kind, run.error_code, run.ended_at) == ("y", 1, "begin", "", None)


def test_runs_are_filtered_and_cost_the_same_however_many(a: Tenant, b: Tenant, automation: Automation) -> None:
    ada, ben = a_contact(a), a_contact(a)
    for contact in (ada, ben):
        a_step_of(an_ended_run(automation, contact, channel=a.channel), 1, "x")
    waiting = a_run(automation, ada, channel=a.channel)
    foreign = a_run(an_automation(b), a_contact(b), channel=b.channel)

    def listed(query: str = "") -> list[str]:
        return [one["status"] for one in a.workspace_api.get(f"{runs_of(automation)}?{query}").json()["data"]]

    assert listed() == ["waiting", "completed", "completed"]
    assert listed(f"contact={ada.uuid}") == ["waiting", "completed"]
    assert listed("status=completed") == ["completed", "completed"]
    assert listed("started_after=2100-01-01T00:00:00Z") == listed("status=perhaps") == []
    assert len(listed("started_before=2100-01-01T00:00:00Z&limit=2")) == 2
    for wrong in (foreign.uuid, uuid.uuid4(), "x"):
        answer = a.workspace_api.get(f"{runs_of(automation)}/{wrong}")
        assert (answer.status_code, message(answer)) == (404, "Run not found.")
    with CaptureQueriesContext(connection) as few:
        listed()
    fail_run(waiting)
    for _ in range(6):
        an_ended_run(automation, a_contact(a), channel=a.channel)
    with CaptureQueriesContext(connection) as many:
        listed()
    assert len(many) == len(few) <= 7


def test_all_runs_of_contacts_stop_at_once(a: Tenant, automation: Automation) -> None:
    ada, ben = a_contact(a), a_contact(a)
    other = an_automation(a, is_on=False)
    for made, contact in ((automation, ada), (other, ada), (automation, ben)):
        a_run(made, contact, channel=a.channel)
    assert stop_runs(contacts={ada.pk: a.workspace.pk}, reason=StopReason.OPTED_OUT, now=now()) == 2
    assert AutomationRun.objects.active().values_list("contact_id", flat=True).get() == ben.pk
    assert sorted(AutomationCount.objects.values_list("port", "number")) == [("stopped", 1), ("stopped", 1)]


def test_a_failed_run_is_told_as_the_api_shows_it(a: Tenant, automation: Automation) -> None:
    run = an_ended_run(automation, a_contact(a), channel=a.channel, status="failed")
    assert record_run_failures([run.pk], now()) == 0
    url = "https://93.184.215.14/hooks"
    register_endpoint(tenant=tenant_of(a.workspace), url=url, events=["automation.run_failed"], by=SYSTEM)
    assert record_run_failures([run.pk], now()) == 1
    [row] = RecordedEvent.objects.filter(name="automation.run_failed")
    told = orjson.loads(row.body)["data"]
    assert told["run"] == a.workspace_api.get(f"{runs_of(automation)}/{run.uuid}").json()["data"]
    assert told["automation"] == a.workspace_api.get("/automations").json()["data"][0]


def test_an_automation_that_fails_too_often_is_switched_off_once(a: Tenant, automation: Automation) -> None:
    contact = a_contact(a)
    for _ in range(19):
        an_ended_run(automation, contact, channel=a.channel, status="failed")
    assert switch_off_failing([automation.pk], now()) == 0
    an_ended_run(automation, contact, channel=a.channel, status="failed")
    assert switch_off_failing([automation.pk], now()) == 1
    assert switch_off_failing([automation.pk], now()) == 0
    automation.refresh_from_db()
    assert automation.enabled is False
    assert NotificationEvent.objects.get().object_id == str(automation.uuid)
    enable_automation(automation=automation, now=now(), by=SYSTEM)
    an_ended_run(automation, contact, channel=a.channel, status="failed")
    assert switch_off_failing([automation.pk], now()) == 0

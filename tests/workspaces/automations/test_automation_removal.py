"""A removed automation vanishes at once. Its rows are deleted in batches, also by a process that comes later."""

from itertools import count
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ChannelFactory, ContactFactory
from tests.factories.flows import a_flow, a_step
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.automations.runs import a_count, a_run, a_step_of, an_ended_run
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.models import (
    Automation,
    AutomationCount,
    AutomationRun,
    AutomationRunStep,
    AutomationVersion,
    DraftRevision,
)
from workspaces.automations.services import enable_automation, publish_automation, remove_automation, save_draft
from workspaces.automations.services.automation_removal import delete_removed_rows
from workspaces.contacts.models import Contact

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
ROWS = (AutomationRun, AutomationRunStep, AutomationCount, AutomationVersion, DraftRevision)


def in_use(a: Tenant, name: str, contact: Contact) -> Automation:
    """An automation with a run under way, one that has ended, and a second version."""
    made = an_automation(a.workspace, name=name)
    save_draft(automation=made, flow=a_flow(a_step("one", "send_text", text="Later")), now=now(), by=SYSTEM)
    publish_automation(automation=made, now=now(), by=SYSTEM)
    channel = ChannelFactory.create(workspace=a.workspace)
    made = enable_automation(automation=made, now=now(), by=SYSTEM)
    a_step_of(a_run(made, contact, channel=channel), 1, "one")
    a_step_of(an_ended_run(made, ContactFactory.create(workspace=a.workspace), channel=channel), 1, "one")
    a_count(made, 3)
    return made


def rows() -> list[int]:
    return [model.objects.count() for model in ROWS]


class Killed(Exception):
    """Stands for the end of the process."""


def delete_until_killed(at: int) -> bool:
    """Delete rows, and die at this statement that writes. Return whether it came to that."""
    numbers = count()

    def die(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "DELETE FROM" in sql and next(numbers) == at:
            raise Killed
        return execute(sql, params, many, context)

    with connection.execute_wrapper(die):
        try:
            while delete_removed_rows():
                pass
        except Killed:
            return True
    return False


def test_a_removed_automation_vanishes_at_once_with_its_runs(a: Tenant) -> None:
    contact = ContactFactory.create(workspace=a.workspace)
    automation, owner = in_use(a, "Goes soon", contact), dashboard_client(a.workspace)
    run = AutomationRun.objects.get(automation=automation, contact_id=contact.pk)
    page = f"/app/automations/{automation.uuid}"
    assert "Goes soon" in text(owner.get(f"/app/contacts/{contact.uuid}"))
    made_for = str(a.workspace.uuid)
    assert owner.post(f"{page}/remove", {"made_for": made_for}).headers["Location"] == "/app/automations"
    owner.get("/app/automations")  # says that it was removed
    run.refresh_from_db()
    assert (run.status, run.error_message) == ("stopped", "removed")
    for address in (page, f"{page}/runs", f"{page}/runs/{run.uuid}"):
        assert owner.get(address).status_code == 404
    assert a.workspace_api.get(f"/automations/{automation.uuid}/runs").status_code == 404
    for address in ("/app/automations", f"/app/contacts/{contact.uuid}"):
        assert "Goes soon" not in text(owner.get(address))


def test_its_rows_are_deleted_wherever_a_process_dies_and_no_others(a: Tenant) -> None:
    contact = ContactFactory.create(workspace=a.workspace)
    in_use(a, "Stays", contact)
    kept = rows()
    removed = in_use(a, "Goes", contact)
    assert rows() > kept
    remove_automation(automation=removed, by=SYSTEM)
    for at in count():
        with transaction.atomic():
            was_killed = delete_until_killed(at)
            assert Automation.with_removed.filter(pk=removed.pk).exists() is was_killed
            delete_until_killed(-1)
            assert rows() == kept
            assert not Automation.with_removed.filter(pk=removed.pk).exists()
            transaction.set_rollback(True)
        if not was_killed:
            break
    assert at > 5

"""Before and after: what a change was and is, in people's terms, and nothing that has to stay unknown."""

import csv
import json
import re
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency import limits
from agency.actors import SYSTEM
from agency.models import ActivityEntry, Plan
from agency.pages.registry import activity_actions
from agency.services import change_role, record_activity, update_item
from agency.services.activity import LONGEST_VALUE, MOST_FIELDS, recorded_actions
from agency.services.catalogue import change_sign_up
from tests import furnished
from tests.agency.console.browsers import a_member, at_the_console, text
from tests.agency.jobs.asking import exported
from tests.factories import PlanFactory
from tests.factories.webhooks import an_endpoint
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from webhooks.services.endpoints import update_endpoint
from workspaces.conversations.services.saved_replies import change_saved_reply, create_saved_reply
from workspaces.subaccounts.services import assign_plan, change_workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
LOG = "/console/activity"
TABLE = re.compile(r'<table class="before-after">.*?</table>', re.DOTALL)


def tables(page: Any) -> list[str]:
    """Give the tables of a page as text, from the first row on."""
    found = TABLE.findall(page.content.decode())
    return [" ".join(re.sub(r"<[^>]+>", " ", one.partition("<tbody>")[2]).split()) for one in found]


def newest(action: str) -> ActivityEntry:
    found: ActivityEntry = ActivityEntry.objects.filter(action=action).latest("id")
    return found


def record(a: Tenant, action: str, **changes: tuple[Any, Any]) -> dict[str, Any]:
    record_activity(by=SYSTEM, action=action, agency_id=a.agency.pk, target=("entry", 1, "Entry"), changes=changes)
    written: dict[str, Any] = newest(action).changes
    return written


def a_plan(a: Tenant, name: str = "Gold", **counts: int | None) -> Plan:
    plan: Plan = PlanFactory.create(agency=a.agency, name=name, limits=limits.build(counts))
    return plan


def test_limits_roles_and_switches_are_said_in_people_s_terms(a: Tenant, admin: Client) -> None:
    plan = a_plan(a, contacts=10_000)
    update_item(item=plan, by=SYSTEM, name="Platinum", limits={"contacts": None, "channels": {"sms": 3}})
    assert tables(admin.get(LOG, {"action": "plan.changed"})) == [
        "Name Gold Platinum Contacts 10,000 No limit SMS channels No limit 3"
    ]
    change_role(member=a_member(a.agency, "viewer"), role="admin", by=SYSTEM)
    assert tables(admin.get(LOG, {"action": "member.role_changed"})) == ["Role Viewer Admin"]
    change_sign_up(agency=a.agency, plan=plan, by=SYSTEM, is_on=True)
    assert tables(admin.get(LOG, {"action": "sign_up.changed"})) == ["Customers can sign up Off On"]
    assert tables(admin.get(LOG, {"action": "plan.default_chosen"})) == ["Default plan — Platinum"]


def test_another_plan_says_its_name_and_what_it_changes_of_the_limits(a: Tenant, admin: Client) -> None:
    assign_plan(workspace=a.workspace, plan=a_plan(a, "Small", contacts=5), now=now(), by=SYSTEM)
    assign_plan(workspace=a.workspace, plan=a_plan(a, "Large", contacts=50), now=now(), by=SYSTEM)
    assert tables(admin.get(LOG, {"action": "plan.assigned"}))[0] == "Plan Small Large Contacts 5 50"


def test_it_is_said_in_the_reader_s_language(a: Tenant, admin: Client) -> None:
    update_item(item=a_plan(a, contacts=1), by=SYSTEM, limits={"contacts": None})
    page = admin.get(LOG, {"action": "plan.changed"}, headers={"accept-language": "de"})
    assert "Vorher und nachher" in text(page)
    assert tables(page) == ["Kontakte 1 Kein Limit"]


def test_of_secrets_and_messages_only_the_change_is_written_down(a: Tenant, admin: Client) -> None:
    endpoint = an_endpoint(a, url="https://93.184.215.14/old?token=first")
    update_endpoint(endpoint=endpoint, by=SYSTEM, url="https://93.184.215.14/new?token=second", enabled=False)
    assert newest("webhook.changed").changes == {
        "url": ["https://93.184.215.14/old", "https://93.184.215.14/new"],
        "enabled": [True, False],
    }
    update_endpoint(endpoint=endpoint, by=SYSTEM, url="https://93.184.215.14/new?token=third")
    assert newest("webhook.changed").changes == {"url": None}
    reply = create_saved_reply(workspace=a.workspace, name="Thanks", text="Hello Kim", now=now(), by=SYSTEM)
    change_saved_reply(reply=reply, name="Bye", text="Bye Kim", now=now(), by=SYSTEM)
    assert newest("saved_reply.changed").changes == {"name": ["Thanks", "Bye"], "text": None}
    change_workspace(workspace=a.workspace, by=SYSTEM, metadata={"note": "private"})
    assert newest("workspace.changed").changes == {"metadata": None}
    shown = tables(admin.get(LOG))
    assert "Name Thanks Bye Text Changed (values not recorded)" in shown
    assert not re.search(r"Kim|private|second|third", str(shown))


def test_what_is_not_declared_is_written_down_without_values(a: Tenant, admin: Client) -> None:
    assert record(a, "something.undeclared", pin=("1234", "5678")) == {"pin": None}
    assert record(a, "agency.changed", name=("A", "B"), pin=("1234", "5678")) == {"name": ["A", "B"], "pin": None}
    assert tables(admin.get(LOG, {"action": "agency.changed"}))[0] == ("Name A B Pin Changed (values not recorded)")


def test_values_and_fields_are_bounded(a: Tenant) -> None:
    long = "x" * (LONGEST_VALUE + 1)
    assert record(a, "agency.changed", name=("A", long)) == {"name": None}
    assert record(a, "agency.changed", name=(long[1:], "B")) == {"name": [long[1:], "B"]}
    assert record(a, "connect.return_urls_changed", return_urls=([], [long[:200], long[:200]])) == {"return_urls": None}
    assert len(record(a, "agency.changed", **{f"field_{number}": (1, 2) for number in range(100)})) == MOST_FIELDS
    assert record(a, "agency.changed", name=({"a": 1}, Decimal("1.5"))) == {"name": None}
    assert record(a, "agency.changed", name=("same", "same")) == {}


def test_the_database_refuses_what_is_too_large(a: Tenant) -> None:
    with pytest.raises(IntegrityError, match="activity_changes_are_small"), transaction.atomic():
        ActivityEntry.objects.create(agency=a.agency, action="x", changes={"name": ["x" * 100_000, ""]})


def test_every_declared_action_has_a_label_and_no_field_twice() -> None:
    for declared in recorded_actions:
        assert activity_actions.get(declared.name) or declared.name == "user.changed", declared.name  # of no agency
        names = [field.name for field in declared.fields]
        assert len(names) == len(set(names)) <= MOST_FIELDS, declared.name
        assert all(field.hidden for field in declared.fields if re.search("password|secret|text|message", field.name))


def test_customers_read_what_is_theirs_and_not_what_is_their_agency_s(a: Tenant, admin: Client) -> None:
    change_workspace(workspace=a.workspace, by=SYSTEM, name="Salon", external_id="CRM-1", metadata={"tier": "a"})
    assert tables(dashboard_client(a.workspace).get("/app/activity"))[0] == f"Name Customer {a.mark} Salon"
    assert "External ID — CRM-1 Metadata" in tables(admin.get(LOG, {"action": "workspace.changed"}))[0]
    of_sub_account = admin.get(f"/console/sub-accounts/{a.workspace.uuid}/activity")
    assert "External ID — CRM-1" in tables(of_sub_account)[0]


def test_the_feed_folds_the_newest_changes_of_a_line_out(a: Tenant) -> None:
    for name in ("One", "Two", "Three"):
        change_workspace(workspace=a.workspace, by=SYSTEM, name=name)
    shown = tables(at_the_console(a.agency, "owner").get("/console/"))
    assert shown[:2] == ["Name Two Three", "Name One Two"]


def test_the_file_has_a_column_for_each_in_its_maker_s_language(a: Tenant) -> None:
    change_workspace(workspace=a.workspace, by=SYSTEM, name="=Salon", phone="+49 30 1234567", metadata={"x": "y"})
    member = a_member(a.agency, "admin")
    member.user.language = "de"
    member.user.save()
    browser = at_the_console(a.agency)
    browser.force_login(member.user)
    [row] = csv.DictReader(StringIO(exported(browser, "activity", query="action=workspace.changed"), newline=""))
    assert row["before"] == f"Name: Customer {a.mark}; Telefonnummer: —"
    assert row["after"] == "Name: =Salon; Metadaten: geändert; Telefonnummer: +49 30 1234567"
    assert json.loads(row["details"]) == {"metadata": ["x"]}


def test_a_list_of_changes_asks_no_statement_more(a: Tenant, admin: Client) -> None:
    admin.get(LOG)
    with CaptureQueriesContext(connection) as before:
        admin.get(LOG)
    for number in range(20):
        change_workspace(workspace=a.workspace, by=SYSTEM, name=f"Salon {number}")
    with CaptureQueriesContext(connection) as after:
        assert len(tables(admin.get(LOG))) == 20
    assert len(before) == len(after)

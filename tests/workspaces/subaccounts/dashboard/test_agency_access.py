"""The agency opens a customer's dashboard: for an hour, under both names, and with nothing that is the owner's own."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Agency, Member, User
from agency.services import change_role, remove_member, suspend_agency
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, a_person, at_the_console, flashes, text
from tests.broadcasts.under_way import a_broadcast
from tests.factories import WorkspaceFactory, WorkspaceMemberFactory
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import a_conversation
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client, member_client
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import change_workspace, move_workspace, suspend_workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
BANNER = "as its agency."


@pytest.fixture
def staff(a: Tenant) -> Member:
    return a_member(a.agency, "admin")


@pytest.fixture
def visitor(a: Tenant, staff: Member) -> Client:
    """Their browser, with the customer's dashboard open."""
    browser = a_browser(staff.user)
    browser.post(f"/console/sub-accounts/{a.workspace.uuid}/open")
    return browser


def test_the_button_opens_the_dashboard_under_a_banner_and_leave_leads_back(a: Tenant, staff: Member) -> None:
    browser = a_browser(staff.user)
    page = browser.get(f"/console/sub-accounts/{a.workspace.uuid}")
    assert f'action="/console/sub-accounts/{a.workspace.uuid}/open"' in page.content.decode()
    opened = browser.post(f"/console/sub-accounts/{a.workspace.uuid}/open", follow=True)
    assert opened.request["PATH_INFO"] == "/app/"
    assert f"You have opened {a.workspace.name} {BANNER}" in text(opened)
    assert f"as {staff.user.email} of {a.agency.name}." in text(opened)
    left = browser.post("/app/agency-access/end", follow=True)
    assert left.request["PATH_INFO"] == f"/console/sub-accounts/{a.workspace.uuid}"
    assert flashes(left) == [f"You have left the dashboard of {a.workspace.name}."]
    assert browser.get("/app/channels").status_code == 403


def test_an_owner_reads_no_banner(a: Tenant) -> None:
    assert BANNER not in text(dashboard_client(a.workspace).get("/app/channels"))


def test_what_is_done_stands_under_both_names_in_both_logs(a: Tenant, staff: Member, visitor: Client) -> None:
    made = visitor.post("/app/saved-replies/new", {"name": "Hours", "text": "Nine to six."})
    assert made.status_code == 302
    visitor.post("/app/agency-access/end")
    entries = ActivityEntry.objects.filter(workspace_uuid=a.workspace.uuid, acting_for=a.workspace.name).order_by("id")
    assert list(entries.values_list("action", "actor_label", "actor_kind")) == [
        (action, staff.user.email, "user")
        for action in ("workspace.opened_by_agency", "saved_reply.created", "workspace.left_by_agency")
    ]
    own_log = text(dashboard_client(a.workspace).get("/app/activity"))
    assert f"Saved reply created — {staff.user.email} ({a.agency.name}) as customer" in own_log
    assert f"Dashboard opened as customer — {staff.user.email} ({a.agency.name}) as customer" in own_log
    console = a_browser(staff.user)
    for page in ("/console/activity", f"/console/sub-accounts/{a.workspace.uuid}/activity", "/console/"):
        assert f"{staff.user.email} as {a.workspace.name}" in text(console.get(page))


def test_what_no_service_records_stands_there_by_the_name_of_its_page(
    a: Tenant, staff: Member, visitor: Client
) -> None:
    conversation, owner = a_conversation(a.channel), dashboard_client(a.workspace)
    for browser in (visitor, owner):
        browser.post(f"/app/inbox/{conversation.uuid}/send", {"text": "Yes"})
        browser.post(f"/app/inbox/{conversation.uuid}/assign", {"assigned_to": "nobody@example.com"})  # 409
        browser.post("/app/contacts/new", {})  # 422
        browser.post("/app/contacts/new", {"name": "Nora", "nonce": "old"})
        browser.post("/app/saved-replies/new", {"name": f"Hours {browser is owner}", "text": "Nine to six."})
        browser.get("/app/settings")
    visits = ActivityEntry.objects.exclude(acting_for="").order_by("id")
    assert list(visits.values_list("action", "target_name"))[1:] == [
        ("workspace.changed_by_agency", "Conversation send"),
        ("saved_reply.created", a.workspace.name),
    ]
    own_log = text(owner.get("/app/activity"))
    assert f"Changed as customer Conversation send {staff.user.email} ({a.agency.name}) as customer" in own_log


def test_the_customer_s_log_calls_the_agency_by_its_name_where_it_was_not_there(a: Tenant, staff: Member) -> None:
    edit = {"name": a.workspace.name, "timezone": "Europe/Berlin", "business_type": "other"}
    a_browser(staff.user).post(f"/console/sub-accounts/{a.workspace.uuid}/edit", edit)
    browser = dashboard_client(a.workspace)
    browser.post("/app/saved-replies/new", {"name": "Hours", "text": "Nine to six."})
    log = text(browser.get("/app/activity"))
    assert f"Time zone UTC Europe/Berlin — {a.agency.name} just now" in log
    assert f"Saved reply created — {a.workspace.owner_email}" in log
    assert staff.user.email not in log
    assert "2001:db8" not in log


def test_nobody_s_address_begins_to_show_when_somebody_leaves_or_the_workspace_moves(
    a: Tenant, b: Tenant, staff: Member, visitor: Client
) -> None:
    visitor.post("/app/saved-replies/new", {"name": "Hours", "text": "Nine to six."})
    invited = {"name": "Nora", "email": "nora@example.com"}
    edit = {"name": a.workspace.name, "timezone": "Europe/Berlin", "business_type": "other"}
    a_browser(staff.user).post(f"/console/sub-accounts/{a.workspace.uuid}/edit", edit)
    former = WorkspaceMemberFactory.create(workspace=a.workspace)
    a_browser(former.user).post("/app/saved-replies/new", {"name": "Way", "text": "Left."})
    browser = dashboard_client(a.workspace)
    browser.post("/app/people/invite", invited)
    browser.post(f"/app/people/{former.uuid}/remove")
    browser.get("/app/activity")  # says what was done just now
    before = text(browser.get("/app/activity"))
    assert f"Time zone UTC Europe/Berlin — {a.agency.name} just now" in before
    assert f"Saved reply created — {former.user.email}" in before
    assert f"{staff.user.email} ({a.agency.name}) as customer" in before
    remove_member(member=staff, by=SYSTEM)
    assert text(browser.get("/app/activity")) == before
    move_workspace(workspace=a.workspace, agency=b.agency, now=now(), by=SYSTEM)
    after = text(browser.get("/app/activity"))
    assert f"Time zone UTC Europe/Berlin — {a.agency.name} just now" in after
    assert f"{staff.user.email} ({a.agency.name}) as customer" in after
    assert "Person invited nora@example.com" in after


def test_messages_are_the_agency_person_s(a: Tenant, staff: Member, visitor: Client) -> None:
    conversation = a_conversation(a.channel)
    assert visitor.post(f"/app/inbox/{conversation.uuid}/send", {"text": "Yes"}).status_code == 302
    assert Message.objects.get(direction="out").sender == {"kind": "user", "label": staff.user.email}
    assert b"data-assign" not in visitor.get(f"/app/inbox/{conversation.uuid}").content


def test_a_viewer_looks_and_reads_why_nothing_was_changed(a: Tenant) -> None:
    viewer = agency_client(a.workspace, "viewer")
    for number in range(4):
        a_member(a.agency, "owner", name=f"Boss {number}")
    assert "You can look, but not change anything." in text(viewer.get("/app/settings"))
    refused = viewer.post("/app/saved-replies/new", {"name": "Hours", "text": "Nine to six."})
    assert refused.status_code == 403
    assert f"Nothing was changed. Your role at {a.agency.name} is Viewer" in text(refused)
    asked = "Roles that may do this Owner, Admin You can ask Boss 0, Boss 1, Boss 2 Back"
    assert f"Your role Viewer {asked}" in text(refused)
    assert not ActivityEntry.objects.filter(action="saved_reply.created").exists()


def test_who_may_not_do_what_the_owner_may_reads_why_and_whom_to_ask(a: Tenant) -> None:
    a.workspace.owner.name = "Olive"
    a.workspace.owner.save(update_fields=["name"])
    not_the_agency = f"Only the owner of {a.workspace.name} may do this, not its agency. Your role"
    browsers = {
        "Your role Member": member_client(a.workspace),
        f"{not_the_agency} Agency": agency_client(a.workspace, "admin"),
        f"{not_the_agency} Agency, view only": agency_client(a.workspace, "viewer"),
    }
    for said, browser in browsers.items():
        refused = browser.post("/app/people/invite", {"email": "ada@example.com"})
        assert refused.status_code == 403
        asked = f"Nothing was changed. {said} Roles that may do this Owner You can ask Olive Back"
        assert asked in text(refused)
        assert "Nothing was changed" not in text(browser.get("/app/people/invite"))
    Workspace.objects.filter(pk=a.workspace.pk).update(owner_pending_since=now())
    assert f"You can ask {a.agency.name} Back" in text(browsers["Your role Member"].post("/app/people/invite"))


def test_every_export_is_recorded_and_a_viewer_is_given_none(a: Tenant, visitor: Client) -> None:
    addresses = ("/app/contacts/export", f"/app/broadcasts/{a_broadcast(channel=a.channel).uuid}/export")
    viewer = agency_client(a.workspace, "viewer")
    for address in addresses:
        assert viewer.get(address).status_code == 403
        assert visitor.get(address).status_code == 200
        assert dashboard_client(a.workspace).get(address).status_code == 200
    entries = ActivityEntry.objects.filter(action__endswith=".exported").order_by("id")
    assert [(one.action, bool(one.acting_for)) for one in entries] == [
        (f"{what}.exported", visits) for what in ("contact", "broadcast") for visits in (True, False)
    ]


def test_it_ends_after_an_hour(a: Tenant, visitor: Client) -> None:
    with time_machine.travel(now() + timedelta(minutes=59), tick=False):
        assert visitor.get("/app/channels").status_code == 200
    with time_machine.travel(now() + timedelta(minutes=61), tick=False):
        ended = visitor.get("/app/channels", follow=True)
    assert ended.request["PATH_INFO"] == f"/console/sub-accounts/{a.workspace.uuid}"
    assert flashes(ended) == ["The customer's dashboard is closed. Your hour is over, or you no longer have access."]
    assert visitor.get("/app/channels").status_code == 403


def suspend_customer(a: Tenant, _: Member) -> None:
    suspend_workspace(workspace=a.workspace, reason="", now=now(), by=SYSTEM)


def suspend_the_agency(a: Tenant, _: Member) -> None:
    suspend_agency(agency=a.agency, reason="", now=now(), by=SYSTEM)


def require_two_factor(a: Tenant, staff: Member) -> None:
    Agency.objects.filter(pk=a.agency.pk).update(two_factor_roles=[staff.role])


def remove(_: Tenant, staff: Member) -> None:
    remove_member(member=staff, by=SYSTEM)


def close_account(_: Tenant, staff: Member) -> None:
    staff.user.is_active = False
    staff.user.save()


@pytest.mark.parametrize("end", [suspend_customer, suspend_the_agency, require_two_factor, remove, close_account])
def test_it_ends_at_once(a: Tenant, staff: Member, visitor: Client, end: Callable[[Tenant, Member], None]) -> None:
    assert visitor.get("/app/channels").status_code == 200
    end(a, staff)
    assert visitor.post("/app/saved-replies/new", {"name": "Hours", "text": "Nine."}).status_code == 302
    assert not ActivityEntry.objects.filter(action="saved_reply.created").exists()
    assert visitor.get("/app/channels").status_code == (302 if end == close_account else 403)


def test_a_role_that_was_taken_away_counts_from_the_next_request_on(a: Tenant, staff: Member, visitor: Client) -> None:
    change_role(member=staff, role="viewer", by=SYSTEM)
    assert visitor.post("/app/settings", {"currency": "EUR"}).status_code == 403
    assert visitor.get("/app/settings").status_code == 200


def test_signing_out_ends_it(a: Tenant, staff: Member, visitor: Client) -> None:
    visitor.post("/account/sign-out")
    visitor.force_login(staff.user)
    assert visitor.get("/app/channels").status_code == 403


def after_its_hour(browser: Client, _: Tenant) -> None:
    with time_machine.travel(now() + timedelta(minutes=61), tick=False):
        browser.get("/app/channels")


def sign_out(browser: Client, _: Tenant) -> None:
    browser.post("/account/sign-out")


def switch(browser: Client, a: Tenant) -> None:
    person = User.objects.get(pk=browser.session["_auth_user_id"])
    own = WorkspaceFactory.create(agency=a.agency, owner_email=person.email)
    browser.post("/app/switch", {"workspace": str(own.uuid)})


def open_another(browser: Client, a: Tenant) -> None:
    browser.post(f"/console/sub-accounts/{WorkspaceFactory.create(agency=a.agency).uuid}/open")


@pytest.mark.parametrize("leave", [after_its_hour, sign_out, switch, open_another])
def test_however_it_is_left_that_is_recorded(
    a: Tenant, staff: Member, visitor: Client, leave: Callable[[Client, Tenant], None]
) -> None:
    leave(visitor, a)
    left = ActivityEntry.objects.get(action="workspace.left_by_agency")
    assert (left.workspace_uuid, left.actor_label, left.acting_for) == (
        a.workspace.uuid,
        staff.user.email,
        a.workspace.name,
    )


def test_another_person_in_the_same_browser_has_none_of_it(a: Tenant, visitor: Client) -> None:
    visitor.force_login(a_person())
    assert "You are not in a team or workspace yet." in text(visitor.get("/account/invitations"))
    assert visitor.get("/app/channels").status_code == 403


def test_what_is_suspended_is_not_opened_and_says_so(a: Tenant, staff: Member) -> None:
    suspend_workspace(workspace=a.workspace, reason="", now=now(), by=SYSTEM)
    browser = a_browser(staff.user)
    refused = browser.post(f"/console/sub-accounts/{a.workspace.uuid}/open", follow=True)
    assert flashes(refused) == ["This sub-account is suspended: nobody can open it. Restore it first."]
    assert b"/open" not in refused.content
    assert browser.get("/app/channels").status_code == 403


def test_nobody_of_another_agency_opens_it(a: Tenant, b: Tenant) -> None:
    path = f"/console/sub-accounts/{a.workspace.uuid}/open"
    assert at_the_console(b.agency, "owner").post(path).status_code == 404
    for browser in (a_browser(a_person()), dashboard_client(a.workspace)):
        assert browser.post(path).status_code == 403
    assert not ActivityEntry.objects.filter(action="workspace.opened_by_agency").exists()


def test_the_person_s_own_workspaces_are_where_they_were(a: Tenant, staff: Member) -> None:
    own = WorkspaceFactory.create(agency=a.agency, name="Own shop", owner_email=staff.user.email)
    browser = a_browser(staff.user)
    browser.get("/app/channels")
    browser.post(f"/console/sub-accounts/{a.workspace.uuid}/open")
    page = text(browser.get("/app/channels"))
    assert a.workspace.name in page
    assert "Own shop" not in page
    assert browser.get(f"/app/leave/{a.workspace.uuid}").status_code == 404
    staff.user.refresh_from_db()
    assert staff.user.chosen_workspace is None
    browser.post("/app/switch", {"workspace": str(own.uuid)})
    assert "Own shop" in text(browser.get("/app/channels"))
    assert BANNER not in text(browser.get("/app/channels"))


def test_a_form_from_before_changes_nothing_in_the_customer_s_workspace(a: Tenant, staff: Member) -> None:
    own = WorkspaceFactory.create(agency=a.agency, name="Own shop", owner_email=staff.user.email)
    browser = a_browser(staff.user)
    browser.post(f"/console/sub-accounts/{a.workspace.uuid}/open")
    fields = {"name": "Hours", "text": "Nine to six.", "made_for": str(own.uuid)}
    refused: Any = browser.post("/app/saved-replies/new", fields, follow=True)
    assert "Nothing was changed." in text(refused)
    assert not ActivityEntry.objects.filter(action="saved_reply.created").exists()


def test_pages_cost_as_many_queries_as_the_owner_s(a: Tenant, visitor: Client) -> None:
    owner = dashboard_client(a.workspace)
    numbers = []
    for browser in (owner, visitor):
        browser.get("/app/channels")
        with CaptureQueriesContext(connection) as queries:
            assert browser.get("/app/channels").status_code == 200
        numbers.append(len(queries))
    assert numbers[1] <= numbers[0]


def test_a_workspace_that_requires_two_factor_requires_it_of_its_agency_too(a: Tenant, visitor: Client) -> None:
    change_workspace(workspace=a.workspace, two_factor_required=True, by=SYSTEM)
    assert visitor.get("/app/channels").status_code == 403
    assert "two-factor" in text(visitor.get("/app/channels")).lower()

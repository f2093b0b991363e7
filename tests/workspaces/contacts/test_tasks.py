"""Tasks on their pages: who adds, sees, changes and completes them, and what becomes of them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, NotificationEvent
from tests import furnished
from tests.agency.console.browsers import text
from tests.channelconnect.sending.messages import a_conversation
from tests.factories import ContactFactory, WorkspaceMemberFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client
from workspaces.contacts.models import Contact, Task
from workspaces.contacts.services import merge_contacts, remove_contact
from workspaces.contacts.services.tasks import (
    DONE_TASKS,
    LIMIT_REACHED,
    NO_SUCH_ASSIGNEE,
    AssigneeNotInTheTeam,
    NewTask,
    complete_task,
    create_task,
    create_tasks,
)
from workspaces.contacts.tasks import forget_records
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import remove_workspace_member

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
LIST = "/app/tasks"
FULL = """
INSERT INTO contacts_task (uuid, workspace_id, title, search_key, status, done_by_label, created_by_kind,
    created_by_label, created_at)
SELECT gen_random_uuid(), %s, 'Task', 'task', 'open', '', 'user', 'a', now() FROM generate_series(1, %s)
"""


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


@pytest.fixture
def contact(a: Tenant) -> Contact:
    return ContactFactory.create(workspace=a.workspace, name="Ana Lee")


def a_task(a: Tenant, title: str = "Call back", **values: Any) -> Task:
    return create_task(workspace=a.workspace, title=title, now=now(), by=SYSTEM, **values)


def titles(browser: Client, query: str = "") -> list[str]:
    page = browser.get(LIST + query).content.decode()
    return re.findall(r'<a class="lead" href="/app/tasks/[^"]*">([^<]*)<', page)


def fill_up(workspace: Workspace, number: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(FULL, [workspace.pk, number])


def actions() -> list[str]:
    entries = ActivityEntry.objects.filter(action__startswith="task.").order_by("pk")
    return list(entries.values_list("action", flat=True))


def test_a_task_of_a_contact_is_added_shown_and_completed_once(a: Tenant, owner: Client, contact: Contact) -> None:
    page = f"/app/contacts/{contact.uuid}"
    link = f"/app/tasks/new?contact={contact.uuid}&amp;next={page}"
    assert link in owner.get(page).content.decode()
    added = owner.post(link.replace("&amp;", "&"), {"title": "Call Ana back", "assigned_to": a.workspace.owner.email})
    assert added["Location"] == page
    task = Task.objects.get()
    assert (task.contact, task.assigned_to, task.created_by_label) == (
        contact,
        a.workspace.owner,
        a.workspace.owner.email,
    )
    assert "Call Ana back" in text(owner.get(page))
    complete = f"{LIST}/{task.uuid}/complete?next={page}"
    assert complete in owner.get(page).content.decode()
    for _ in range(2):
        assert owner.post(complete)["Location"] == page
    task.refresh_from_db()
    assert (task.status, task.done_by_label) == ("done", a.workspace.owner.email)
    assert "Call Ana back" not in text(owner.get(page)).replace("Done: Call Ana back", "")
    owner.post(f"{LIST}/{task.uuid}/reopen")
    assert "Call Ana back" in text(owner.get(page))
    owner.post(f"{LIST}/{task.uuid}/remove")
    assert not Task.objects.exists()
    assert actions() == ["task.created", "task.completed", "task.reopened", "task.removed"]
    assert not ActivityEntry.objects.filter(details__icontains="Ana").exists()  # titles often name people


def test_the_list_finds_tasks_by_state_person_and_title_the_earliest_due_first(
    a: Tenant, b: Tenant, owner: Client
) -> None:
    hour, me = timedelta(hours=1), a.workspace.owner
    a_task(a, "Whenever")
    a_task(a, "Soon", due_at=now() + hour, assigned_to=me)
    a_task(a, "LATE Ärger", due_at=now() - hour)
    for number, title in enumerate(("Done first", "Done last")):
        complete_task(task=a_task(a, title, assigned_to=me), now=now() + number * hour, by=SYSTEM)
    a_task(b, "Of others")
    for query, expected in (
        ("", ["LATE Ärger", "Soon", "Whenever"]),
        ("?who=mine", ["Soon"]),
        ("?who=unassigned", ["LATE Ärger", "Whenever"]),
        ("?show=overdue", ["LATE Ärger"]),
        ("?show=done", ["Done last", "Done first"]),
        ("?show=done&who=mine&search=LAST", ["Done last"]),
        ("?search=ärger", ["LATE Ärger"]),
        ("?search=%25", []),
        ("?search=%00", []),
        ("?search=others", []),
        ("?who=x&show=x", ["LATE Ärger", "Soon", "Whenever"]),
    ):
        assert titles(owner, query) == expected, query


def test_due_times_are_those_of_the_workspace(a: Tenant, owner: Client) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(timezone="America/New_York")
    owner.post(f"{LIST}/new", {"title": "Call", "due_at": "2026-12-24T09:30"})
    task = Task.objects.get()
    assert task.due_at == datetime(2026, 12, 24, 14, 30, tzinfo=UTC)
    assert "Thu, 24 Dec 2026, 09:30" in text(owner.get(LIST))
    Task.objects.update(due_at=datetime(2026, 12, 24, 14, 30, 17, tzinfo=UTC))
    for changes, due in (({"due_at": "2026-12-24T09:30"}, "14:30:17"), ({"due_at": "2026-12-24T10:00"}, "15:00:00")):
        owner.post(f"{LIST}/{task.uuid}", {"title": "Call them", **changes})
        task.refresh_from_db()
        assert task.due_at.strftime("%H:%M:%S") == due
    refused = owner.post(f"{LIST}/new", {"title": "Call", "due_at": "9999-12-31T23:59"})
    assert (refused.status_code, "at most ten years" in text(refused)) == (422, True)


def test_people_of_the_workspace_get_tasks_and_nobody_else(a: Tenant, b: Tenant, owner: Client) -> None:
    colleague = WorkspaceMemberFactory.create(workspace=a.workspace)
    for email, status in ((b.workspace.owner.email, 422), (colleague.user.email, 302)):
        answer = owner.post(f"{LIST}/new", {"title": "Call", "assigned_to": email})
        assert answer.status_code == status
    with pytest.raises(AssigneeNotInTheTeam):
        a_task(a, assigned_to=b.workspace.owner)
    task = Task.objects.get()
    told = NotificationEvent.objects.get(kind="task.assigned")
    assert (told.only_user, told.data["title"]) == (colleague.user, "Call")
    owner.post(f"{LIST}/{task.uuid}", {"title": "Call", "assigned_to": a.workspace.owner.email})
    assert not NotificationEvent.objects.filter(kind="task.assigned").exists()  # nobody is told of what they did
    owner.post(f"{LIST}/{task.uuid}", {"title": "Call", "assigned_to": colleague.user.email})
    assert NotificationEvent.objects.get(kind="task.assigned").only_user == colleague.user
    remove_workspace_member(member=colleague, now=now(), by=SYSTEM)
    task.refresh_from_db()
    assert task.assigned_to is None


def test_viewers_see_tasks_and_change_none(a: Tenant) -> None:
    task, viewer = a_task(a), agency_client(a.workspace, "viewer")
    page = viewer.get(LIST).content.decode()
    assert ("Call back" in page, "/complete" in page) == (True, False)
    for address in (f"{LIST}/new", f"{LIST}/{task.uuid}", f"{LIST}/{task.uuid}/complete", f"{LIST}/{task.uuid}/remove"):
        viewer.post(address, {"title": "Changed"})
    assert list(Task.objects.values_list("title", "status")) == [("Call back", "open")]


def test_the_inbox_shows_the_tasks_of_the_contact(a: Tenant, owner: Client) -> None:
    conversation = a_conversation(a.channel)
    for number in range(6):
        a_task(a, f"Task {number}", contact=conversation.contact, due_at=now() - timedelta(hours=number))
    shown = text(owner.get(f"/app/inbox/{conversation.uuid}"))
    assert [f"Task {number}" in shown for number in range(6)] == [False, True, True, True, True, True]
    assert "All tasks" in shown


def test_tasks_follow_their_contact_and_end_with_it(a: Tenant, contact: Contact) -> None:
    kept = ContactFactory.create(workspace=a.workspace)
    task = a_task(a, "Call Ana back", contact=contact, assigned_to=a.workspace.owner)
    general = a_task(a)
    merge_contacts(contact=kept, other=contact, now=now(), by=SYSTEM)
    task.refresh_from_db()
    assert task.contact == kept
    remove_contact(contact=kept, now=now(), by=SYSTEM)
    assert list(Task.objects.all()) == [general]
    assert not NotificationEvent.objects.filter(data__icontains="Ana").exists()


def test_a_workspace_has_at_most_10_000_open_tasks(a: Tenant, owner: Client) -> None:
    done = a_task(a, "Done")
    complete_task(task=done, now=now(), by=SYSTEM)
    fill_up(a.workspace, 9_999)
    assert owner.post(f"{LIST}/new", {"title": "The last"}).status_code == 302
    refused = owner.post(f"{LIST}/new", {"title": "Too many"})
    assert (refused.status_code, "There are 10,000 open tasks" in text(refused)) == (422, True)
    assert "There are 10,000 open tasks" in text(owner.post(f"{LIST}/{done.uuid}/reopen", follow=True))
    assert Task.objects.open().count() == 10_000


def test_many_tasks_cost_as_many_statements_as_one(
    a: Tenant, b: Tenant, django_assert_num_queries: Any, contact: Contact
) -> None:
    colleague = WorkspaceMemberFactory.create(workspace=a.workspace).user.email
    fill_up(b.workspace, 9_999)
    other = ContactFactory.create(workspace=b.workspace)
    new = [
        NewTask(workspace_id=of.workspace_id, contact_id=of.pk, title="Call", due_at=None, assigned_to=email, by=SYSTEM)
        for of in (contact, other)
        for email in (colleague.upper(), a.workspace.owner.email, "")
    ]
    for some in (new[:1], new):
        with django_assert_num_queries(7):
            refusals = create_tasks(tasks=some, now=now())
    assert refusals == ["", "", "", NO_SUCH_ASSIGNEE, LIMIT_REACHED, LIMIT_REACHED]
    assert Task.objects.of(b.workspace).get(title="Call").assigned_to is None


def test_done_tasks_are_forgotten_after_400_days(a: Tenant) -> None:
    old, recent, still_open = a_task(a), a_task(a), a_task(a)
    for task, days in ((old, 401), (recent, 399)):
        complete_task(task=task, now=now() - timedelta(days=days), by=SYSTEM)
    Task.objects.filter(pk=still_open.pk).update(created_at=now() - timedelta(days=800))
    assert timedelta(days=1) <= DONE_TASKS.lag() < timedelta(days=2)
    forget_records()
    assert set(Task.objects.all()) == {recent, still_open}

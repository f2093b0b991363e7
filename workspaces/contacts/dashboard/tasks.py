"""Dashboard pages about tasks: their list, one task, and the buttons that complete and reopen it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import User
from agency.pages.forms import ConfirmationForm, LineField, LongSelect, NaiveDateTimeField
from agency.pages.pagination import with_id
from agency.pages.tables import Column, Filter, ListPage, Table
from config.api.requests import is_storable, parse_uuid
from config.wall_clock import instant_of
from workspaces.contacts.models import Contact, Task
from workspaces.contacts.models.tasks import LONGEST_TITLE
from workspaces.contacts.services import ContactNotFound
from workspaces.contacts.services.tasks import (
    TaskChanges,
    TaskNotFound,
    change_task,
    complete_task,
    create_task,
    remove_task,
    reopen_task,
)
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import people_of

LIST: Final = "app:tasks"
ONE: Final = "app:task"
LONGEST_SEARCH: Final = 100
# The form in which browsers send a date and time.
MINUTES: Final = "%Y-%m-%dT%H:%M"
# A contact's page and the inbox show so many open tasks. The list has all of them.
MOST_SHOWN: Final = 5


class TaskForm(forms.Form):
    """A task's title, due time by the workspace's clock, and assignee."""

    title = LineField(label=gettext_lazy("Title"), max_length=LONGEST_TITLE)
    due_at = NaiveDateTimeField(label=gettext_lazy("Due"), required=False)

    def __init__(
        self, data: Mapping[str, object] | None = None, *, workspace: Workspace, task: Task | None = None
    ) -> None:
        self._zone, self._task = workspace.timezone, task
        self._people: dict[str, User] = {user.email: user for user in people_of(workspace).order_by("name", "pk")}
        super().__init__(data, initial=self._shown(task) if task else {})
        choices = [("", _("Nobody")), *((email, str(user)) for email, user in self._people.items())]
        self.fields["assigned_to"] = forms.ChoiceField(
            label=_("Assigned to"), required=False, choices=choices, widget=LongSelect
        )
        self.fields["due_at"].help_text = _("By the clock of %(zone)s.") % {"zone": self._zone}

    def _shown(self, task: Task) -> dict[str, object]:
        email = task.assigned_to.email if task.assigned_to else ""
        return {"title": task.title, "due_at": self._local(task.due_at), "assigned_to": email}

    def _local(self, moment: datetime | None) -> str:
        return moment.astimezone(ZoneInfo(self._zone)).strftime(MINUTES) if moment else ""

    def values(self) -> TaskChanges:
        """Return the values for the service."""
        typed = self.cleaned_data
        return {
            "title": typed["title"],
            "due_at": self._due_at(typed["due_at"]),
            "assigned_to": self._people.get(typed["assigned_to"]),
        }

    def _due_at(self, wall: datetime | None) -> datetime | None:
        """Return the typed moment. A due time that was not touched keeps its seconds."""
        if wall is None:
            return None
        known = self._task.due_at if self._task else None
        is_untouched = known is not None and wall.strftime(MINUTES) == self._local(known)
        return known if is_untouched else instant_of(wall.replace(tzinfo=None), self._zone)


class Tasks(ListPage, DashboardView):
    """Open tasks by due time, or those that are done, the newest first."""

    nav = LIST
    table = Table(
        caption=gettext_lazy("Tasks"),
        columns=(
            Column(name="title", label=gettext_lazy("Task")),
            Column(name="contact", label=gettext_lazy("Contact")),
            Column(name="due", label=gettext_lazy("Due")),
            Column(name="assigned", label=gettext_lazy("Assigned to")),
            Column(name="action", label=gettext_lazy("Complete or reopen"), is_unseen=True),
        ),
        filters=(
            Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Title")),
            Filter(
                name="who",
                label=gettext_lazy("Assigned to"),
                is_choice=True,
                choices=(("mine", gettext_lazy("Me")), ("unassigned", gettext_lazy("Nobody"))),
            ),
        ),
        keeps=("show",),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        now, state = timezone.now(), self.read_table()
        show = request.GET.get("show", "")
        rows = self._found(state.values, show, now).select_related("contact", "assigned_to")
        context = {"now": now, "zone": ZoneInfo(self.workspace.timezone), "show": show}
        return self.list_page("contacts/tasks/tasks.html", state.fetch(rows), **context)

    def _found(self, asked: Mapping[str, str], show: str, now: datetime) -> "QuerySet[Task]":
        rows = Task.objects.of(self.workspace)
        if asked["who"] in ("mine", "unassigned"):
            rows = rows.filter(assigned_to=self.user if asked["who"] == "mine" else None)
        if search := asked["search"][:LONGEST_SEARCH]:
            rows = rows.matching(search) if is_storable(search) else rows.none()
        if show == "done":
            return rows.done().order_by("-done_at", "-id")
        rows = rows.open().by_due()
        return rows.filter(due_at__lt=now) if show == "overdue" else rows


class TaskNew(DashboardForm[TaskForm]):
    """Adds a task, of the contact that the address names if it names one."""

    nav = LIST
    creates = True
    template_name = "contacts/tasks/task.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> TaskForm:
        return TaskForm(data, workspace=self.workspace)

    def save(self, form: TaskForm) -> HttpResponse:
        now = timezone.now()
        create_task(workspace=self.workspace, contact=self._contact, now=now, by=self.by, **form.values())
        return self.done(_("The task was added."), LIST)

    def context(self) -> dict[str, object]:
        return {"contact": self._contact}

    @cached_property
    def _contact(self) -> Contact | None:
        asked = self.request.GET.get("contact", "")
        found = with_id(Contact.objects.of(self.workspace), parse_uuid(asked)) if asked else None
        if asked and found is None:
            raise ContactNotFound
        return found


class TaskDetail(DashboardView):
    """A page about one task of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    form_page = ONE
    task: Task

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Task.objects.of(self.workspace).select_related("contact", "assigned_to"), ids["uuid"])
        if found is None:
            raise TaskNotFound
        found.workspace = self.workspace
        self.task = found


class TaskPage(TaskDetail, DashboardForm[TaskForm]):
    template_name = "contacts/tasks/task.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> TaskForm:
        return TaskForm(data, workspace=self.workspace, task=self.task)

    def save(self, form: TaskForm) -> HttpResponse:
        change_task(task=self.task, now=timezone.now(), by=self.by, **form.values())
        return self.done(_("The task was saved."), LIST)

    def context(self) -> dict[str, object]:
        return {"task": self.task, "contact": self.task.contact}


class TaskComplete(TaskDetail):
    """Completes a task. A second click finds it done and changes nothing."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        task = complete_task(task=self.task, now=timezone.now(), by=self.by)
        return self.done(_("Done: %(title)s") % {"title": task.title}, LIST)


class TaskReopen(TaskDetail):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        task = reopen_task(task=self.task, by=self.by)
        return self.done(_("Open again: %(title)s") % {"title": task.title}, LIST)


class TaskRemove(TaskDetail, DashboardForm[ConfirmationForm]):
    """Asks for confirmation, then removes the task."""

    template_name = "contacts/tasks/remove.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_task(task=self.task, by=self.by)
        return self.done(_("The task was removed."), LIST)

    def context(self) -> dict[str, object]:
        return {"task": self.task}


def shown_tasks(contact: Contact, workspace: Workspace) -> dict[str, object]:
    """Give a contact's first open tasks by due time, as `contacts/tasks/_of_contact.html` shows them."""
    rows = Task.objects.of(workspace).open().filter(contact=contact).select_related("assigned_to").by_due()
    found = list(rows[: MOST_SHOWN + 1])
    return {
        "tasks": found[:MOST_SHOWN],
        "has_more_tasks": len(found) > MOST_SHOWN,
        "now": timezone.now(),
        "zone": ZoneInfo(workspace.timezone),
    }


urlpatterns = [
    path("tasks", Tasks.as_view(), name="tasks"),
    path("tasks/new", TaskNew.as_view(), name="task-new"),
    path("tasks/<id:uuid>", TaskPage.as_view(), name="task"),
    path("tasks/<id:uuid>/complete", TaskComplete.as_view(), name="task-complete"),
    path("tasks/<id:uuid>/reopen", TaskReopen.as_view(), name="task-reopen"),
    path("tasks/<id:uuid>/remove", TaskRemove.as_view(), name="task-remove"),
]

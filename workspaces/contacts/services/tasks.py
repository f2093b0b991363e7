"""Creates, changes, completes and removes tasks, of people and of automations, and notifies who is assigned."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypedDict, Unpack

from django.db import connection, transaction
from django.db.models import Count
from django.utils.translation import gettext_lazy as _

from agency.actors import Actor
from agency.models import User
from agency.models.notifications import DeliveryMethod
from agency.notification_kinds import NotificationKind
from agency.services.activity import changes_to
from agency.services.notifications.recording import NewNotificationEvent, record_notifications, withdraw_notifications
from agency.tenants import Audience
from config.db import name_key
from config.errors import Forbidden, InvalidInput, NotFound
from config.postgresql.arrays import integers
from config.postgresql.concurrency import AdvisoryLock
from config.retention import ExpiredRows
from workspaces.contacts.models import Contact, Task
from workspaces.contacts.services.contacts import (
    ContactMergeHandler,
    ContactNotFound,
    ContactRemovalHandler,
    lock_contact,
)
from workspaces.subaccounts.models import Workspace, WorkspaceMember
from workspaces.subaccounts.services import MemberRemovalHandler, people_of, record_workspace_activity, tenant_of

MOST_OPEN: Final = 10_000
# What was refused about a task of an automation.
LIMIT_REACHED: Final = "task_limit_reached"
NO_SUCH_ASSIGNEE: Final = "no_such_assignee"
# A due time may be so far away, in the past or the future.
FARTHEST: Final = timedelta(days=3_660)
ASSIGNED: Final = "task.assigned"
NOTIFICATION_KINDS: Final = (
    NotificationKind(
        name=ASSIGNED,
        label=_("A task is assigned to you"),
        text=_("%(by)s assigned a task to you: %(title)s"),
        url_name="app:task",
        names_object=True,
        audience=Audience.WORKSPACE,
        usual=DeliveryMethod.CONSOLE,
    ),
)


class TaskNotFound(NotFound):
    message = "Task not found."


class TaskLimitReached(Forbidden):
    message = "There are 10,000 open tasks, which is the most that a workspace may have. Complete some of them first."


class AssigneeNotInTheTeam(InvalidInput):
    message = "A task can only be assigned to people of this workspace."
    field = "assigned_to"


class DueTimeRefused(InvalidInput):
    message = "A task can be due at most ten years from now."
    field = "due_at"


class TaskChanges(TypedDict, total=False):
    """The fields that may be changed. `assigned_to` is one of the workspace's people, or None."""

    title: str
    due_at: datetime | None
    assigned_to: User | None


@transaction.atomic
def create_task(
    *,
    workspace: Workspace,
    title: str,
    now: datetime,
    by: Actor,
    contact: Contact | None = None,
    due_at: datetime | None = None,
    assigned_to: User | None = None,
) -> Task:
    """Create a task.

    Raises `DueTimeRefused`, `TaskLimitReached`, `AssigneeNotInTheTeam`, and `ContactNotFound`.
    """
    _check_due_time(due_at, now)
    if contact is not None and lock_contact(contact).workspace_id != workspace.pk:
        raise ContactNotFound
    _lock_tasks([workspace.pk])
    _check_limit(workspace)
    _check_assignee(workspace, assigned_to)
    task = Task.objects.create(
        workspace=workspace,
        contact=contact,
        title=title,
        search_key=name_key(title),
        due_at=due_at,
        assigned_to=assigned_to,
        created_by_kind=by.kind,
        created_by_label=by.label,
        created_at=now,
    )
    _record(task, "task.created", by)
    _notify([(task, by)], now=now)
    return task


@transaction.atomic
def change_task(*, task: Task, now: datetime, by: Actor, **changes: Unpack[TaskChanges]) -> Task:
    """Change the given fields. Without a real change nothing is recorded.

    Raises `TaskNotFound`, `DueTimeRefused` and `AssigneeNotInTheTeam`.
    """
    if changes.get("assigned_to"):
        _lock_tasks([task.workspace_id])
    locked = _lock(task)
    differences = {name: pair for name, pair in changes_to(locked, changes).items() if pair[0] != pair[1]}
    if not differences:
        return locked
    if "due_at" in differences:
        _check_due_time(changes["due_at"], now)
    if "assigned_to" in differences:
        _check_assignee(locked.workspace, changes["assigned_to"])
    for name, (_before, after) in differences.items():
        setattr(locked, name, after)
    locked.search_key = name_key(locked.title)
    locked.save(update_fields=[*differences, "search_key"])
    _record(locked, "task.changed", by, **differences)
    if "assigned_to" in differences:
        withdraw_notifications(ASSIGNED, [str(locked.uuid)])
        _notify([(locked, by)], now=now)
    return locked


@transaction.atomic
def complete_task(*, task: Task, now: datetime, by: Actor) -> Task:
    """Mark a task as done. One that is done stays as it is. Raises `TaskNotFound`."""
    locked = _lock(task)
    if not locked.is_done:
        locked.status, locked.done_at, locked.done_by_label = Task.Status.DONE, now, by.label
        locked.save(update_fields=["status", "done_at", "done_by_label"])
        _record(locked, "task.completed", by)
    return locked


@transaction.atomic
def reopen_task(*, task: Task, by: Actor) -> Task:
    """Mark a task as open again. Raises `TaskNotFound` and `TaskLimitReached`."""
    _lock_tasks([task.workspace_id])
    locked = _lock(task)
    if locked.is_done:
        _check_limit(locked.workspace)
        locked.status, locked.done_at, locked.done_by_label = Task.Status.OPEN, None, ""
        locked.save(update_fields=["status", "done_at", "done_by_label"])
        _record(locked, "task.reopened", by)
    return locked


@transaction.atomic
def remove_task(*, task: Task, by: Actor) -> None:
    """Remove a task. Raises `TaskNotFound`."""
    locked = _lock(task)
    _record(locked, "task.removed", by)
    withdraw_notifications(ASSIGNED, [str(locked.uuid)])
    locked.delete()


# In one order, so that two transactions do not wait for each other.
LOCK_TASKS: Final = """
SELECT pg_advisory_xact_lock(%s, hash)
FROM (SELECT DISTINCT hashint8(id) AS hash FROM unnest(%s::bigint[]) AS wanted (id) ORDER BY 1) AS ordered
"""


def _lock_tasks(workspaces: Collection[int]) -> None:
    """Let nobody else add or assign tasks in these workspaces, and let nobody leave them, until the commit.

    The workspaces' own rows stay free: the engine must not wait for them while it holds contacts. Contacts are locked
    before, single tasks after it.
    """
    with connection.cursor() as cursor:
        cursor.execute(LOCK_TASKS, [AdvisoryLock.TASKS.value, integers(workspaces)])


def _lock(task: Task) -> Task:
    rows = Task.objects.select_for_update(of=("self",), no_key=True).select_related("workspace", "assigned_to")
    found = rows.filter(pk=task.pk).first()
    if found is None:
        raise TaskNotFound
    return found


def _check_limit(workspace: Workspace) -> None:
    """Raise `TaskLimitReached` if there is no room for one more. The caller has called `_lock_tasks`."""
    if Task.objects.of(workspace).open().count() >= MOST_OPEN:
        raise TaskLimitReached


def _check_due_time(due_at: datetime | None, now: datetime) -> None:
    if due_at is not None and not now - FARTHEST <= due_at <= now + FARTHEST:
        raise DueTimeRefused


def _check_assignee(workspace: Workspace, user: User | None) -> None:
    """Only the workspace's people get tasks, not the agency's staff who visit it."""
    if user is not None and not people_of(workspace).filter(pk=user.pk).exists():
        raise AssigneeNotInTheTeam


def _record(task: Task, action: str, by: Actor, **changes: tuple[object, object]) -> None:
    """Record a change. The entry names the task, not its title, because a title often names a person."""
    record_workspace_activity(
        workspace=task.workspace, action=action, by=by, details={"task": str(task.uuid)}, changes=changes
    )


def _notify(tasks: Iterable[tuple[Task, Actor]], *, now: datetime) -> None:
    """Notify the people who got a task from somebody else."""
    record_notifications(
        ASSIGNED,
        [
            NewNotificationEvent(
                tenant=tenant_of(task.workspace),
                key=str(task.uuid),
                object_id=str(task.uuid),
                data={"by": by.label, "title": task.title},
                only_user=task.assigned_to,
            )
            for task, by in tasks
            if task.assigned_to is not None and (by.kind, by.id) != ("user", str(task.assigned_to.pk))
        ],
        now=now,
        lasts=False,
    )


# Many tasks at once, for automations ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """A task that an automation creates for a contact. `assigned_to` is a member's e-mail address, or ""."""

    workspace_id: int
    contact_id: int
    title: str
    due_at: datetime | None
    assigned_to: str
    by: Actor


def create_tasks(*, tasks: Sequence[NewTask], now: datetime) -> list[str]:
    """Create tasks in the caller's transaction, with a constant number of statements.

    Return a code for each: "" if nothing was refused, `LIMIT_REACHED` if it was not created, `NO_SUCH_ASSIGNEE` if
    nobody has it. The caller has locked the contacts.
    """
    if not tasks:
        return []
    wanted = {one.workspace_id for one in tasks}
    _lock_tasks(wanted)
    workspaces = Workspace.objects.in_bulk(wanted)
    room = _room_for_tasks(wanted)
    people = _people_by_email(wanted, {one.assigned_to.lower() for one in tasks if one.assigned_to})
    created: list[tuple[Task, Actor]] = []
    refusals: list[str] = []
    for one in tasks:
        room[one.workspace_id] -= 1
        if room[one.workspace_id] < 0:
            refusals.append(LIMIT_REACHED)
            continue
        user = people.get((one.workspace_id, one.assigned_to.lower()))
        refusals.append(NO_SUCH_ASSIGNEE if one.assigned_to and user is None else "")
        created.append((_new_task(one, workspaces[one.workspace_id], user, now), one.by))
    Task.objects.bulk_create([task for task, _by in created])
    _notify(created, now=now)
    return refusals


def _new_task(new: NewTask, workspace: Workspace, user: User | None, now: datetime) -> Task:
    return Task(
        workspace=workspace,
        contact_id=new.contact_id,
        title=new.title,
        search_key=name_key(new.title),
        due_at=new.due_at,
        assigned_to=user,
        created_by_kind=new.by.kind,
        created_by_label=new.by.label,
        created_at=now,
    )


def _room_for_tasks(workspaces: Collection[int]) -> Counter[int]:
    """Return how many open tasks each of these workspaces may still get."""
    counted = Task.objects.filter(workspace__in=workspaces).open().values("workspace").annotate(number=Count("pk"))
    used = dict(counted.order_by().values_list("workspace", "number"))
    return Counter({pk: MOST_OPEN - used.get(pk, 0) for pk in workspaces})


def _people_by_email(workspaces: Collection[int], emails: Collection[str]) -> dict[tuple[int, str], User]:
    """Find those of the workspaces' people who have one of these addresses, in lower case."""
    if not emails:
        return {}
    members = WorkspaceMember.objects.filter(workspace__in=workspaces, user__email__in=emails).select_related("user")
    owned = Workspace.objects.filter(pk__in=workspaces, owner_pending_since=None, owner__email__in=emails)
    found = [(one.workspace_id, one.user) for one in members]
    found += [(one.pk, one.owner) for one in owned.select_related("owner")]
    return {(pk, user.email): user for pk, user in found}


# What happens to the tasks of contacts and of people who leave, and to old ones ------------------------------


def _unassign_all(workspace: Workspace, user: User, now: datetime) -> None:
    _lock_tasks([workspace.pk])
    Task.objects.of(workspace).filter(assigned_to=user).update(assigned_to=None)


def _move_tasks(kept: int, gone: int) -> None:
    Task.objects.filter(contact_id=gone).update(contact_id=kept)


def _remove_tasks(contact: int) -> None:
    """Remove a contact's tasks, and the notifications that quote their titles."""
    rows = Task.objects.filter(contact_id=contact)
    withdraw_notifications(ASSIGNED, [str(uuid) for uuid in rows.values_list("uuid", flat=True)])
    rows.delete()


MEMBER_REMOVAL_HANDLER: Final = MemberRemovalHandler("tasks", _unassign_all)
MERGE_HANDLER: Final = ContactMergeHandler("tasks", _move_tasks)
REMOVAL_HANDLER: Final = ContactRemovalHandler("tasks", _remove_tasks)
DONE_TASKS: Final = ExpiredRows("contacts_task", "done_at", timedelta(days=400), order="done_at", of="status = 'done'")
TASK_RULES: Final = (DONE_TASKS.rule("done_tasks"),)

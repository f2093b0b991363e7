"""Changes of the staff of a workspace."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, Unpack

from django.db import connection, transaction

from agency.actors import Actor
from agency.services import record_activity
from agency.services.activity import Changes, from_differences
from config.errors import Conflict, Forbidden, InvalidInput
from config.hooks import Registry
from workspaces.catalogue import events
from workspaces.catalogue.models import Staff
from workspaces.catalogue.services.appointment_settings import StaffNotFound
from workspaces.catalogue.services.services import check_row_limit, save_with_unique_name
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_event


def record_staff_activity(
    *, workspace: Workspace, staff: Staff, what: str, by: Actor, changes: Changes | None = None
) -> None:
    """Add an entry such as `staff.changed` to the activity log of the agency and the sub-account."""
    record_activity(
        by=by,
        action=f"staff.{what}",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("staff", staff.uuid, staff.name),
        changes=changes,
    )


MOST_STAFF = 500
MOST_CHOICES = 50
UNIQUE_STAFF_NAME = "staff_name_once_per_workspace"
SHARE_LOCK_STAFF = "SELECT 1 FROM catalogue_staff WHERE id = %s AND deleted_at IS NULL FOR SHARE"


class StaffLimitReached(Forbidden):
    message = f"A workspace may have at most {MOST_STAFF} staff members."


class StaffNameTaken(InvalidInput):
    field = "name"
    message = "Another staff member has this name."


class StaffInUse(Conflict):
    """Something is planned with the staff member. The message says what."""


@dataclass(frozen=True, slots=True)
class StaffUse:
    """A higher app's check for things planned with a staff member. While there are any, the person stays."""

    name: str
    is_planned: Callable[[Staff], bool]
    message: str


staff_uses = Registry[StaffUse](
    "uses of staff",
    called="`delete_staff` calls each in the order of the apps, under the person's lock, until one says yes",
    transaction="the caller's",
    failure="rolls the caller back",
)


class StaffChanges(TypedDict, total=False):
    """The fields of a staff member that can change. Fields left out stay."""

    name: str
    email: str | None


def share_lock_staff(staff: Staff | None) -> None:
    """Lock a staff member against deletion until the transaction ends. Raises `StaffNotFound`."""
    if staff is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(SHARE_LOCK_STAFF, [staff.pk])
        if cursor.fetchone() is None:
            raise StaffNotFound


def lock_staff_members(staff: Collection[int]) -> list[Staff]:
    """Lock these people's rows in the order of their ids, and return those who are not deleted.

    Lock a person before you occupy their time.
    """
    rows = Staff.objects.filter(pk__in=staff, deleted_at=None).order_by("pk")
    return list(rows.select_for_update(no_key=True))


@transaction.atomic
def create_staff(*, workspace: Workspace, name: str, now: datetime, by: Actor, email: str | None = None) -> Staff:
    """Add a staff member. Raises `StaffLimitReached`, `StaffNameTaken`."""
    check_row_limit(workspace, Staff.objects.of(workspace), most=MOST_STAFF, full=StaffLimitReached)
    staff = Staff(workspace=workspace, name=name.strip(), email=email, created_at=now)
    save_with_unique_name(staff, once=UNIQUE_STAFF_NAME, taken=StaffNameTaken)
    record_staff_activity(workspace=workspace, staff=staff, what="created", by=by)
    record_workspace_event(workspace=workspace, name=events.STAFF_CREATED, now=now, staff=staff)
    return staff


@transaction.atomic
def change_staff(*, staff: Staff, now: datetime, by: Actor, **changes: Unpack[StaffChanges]) -> Staff:
    """Change a staff member. Fields left out stay. Raises `StaffNameTaken`, `StaffNotFound`."""
    workspace = staff.workspace
    staff = _lock_staff(staff)
    if "name" in changes:
        changes["name"] = changes["name"].strip()
    before = _staff_snapshot(staff)
    changed = {field: value for field, value in {**changes}.items() if before[field] != value}
    if changed:
        for field, value in changed.items():
            setattr(staff, field, value)
        save_with_unique_name(staff, once=UNIQUE_STAFF_NAME, taken=StaffNameTaken, update_fields=[*changed])
        made = differences(before, _staff_snapshot(staff))
        record_staff_activity(workspace=workspace, staff=staff, what="changed", by=by, changes=from_differences(made))
        record_workspace_event(workspace=workspace, name=events.STAFF_UPDATED, now=now, staff=staff, changes=made)
    return staff


@transaction.atomic
def delete_staff(*, staff: Staff, now: datetime, by: Actor) -> None:
    """Delete a staff member, who provides no service any more. Past appointments and classes still name them.

    Raises `StaffInUse`, `StaffNotFound`.
    """
    workspace = staff.workspace
    staff = _lock_staff(staff)
    for use in staff_uses:
        if use.is_planned(staff):
            raise StaffInUse(use.message)
    staff.deleted_at = now
    staff.save(update_fields=["deleted_at"])
    staff.provided_services.all().delete()
    record_staff_activity(workspace=workspace, staff=staff, what="deleted", by=by)
    record_workspace_event(workspace=workspace, name=events.STAFF_DELETED, now=now, staff=staff)


def staff_to_choose(*, workspace: Workspace, search: str = "", most: int = MOST_CHOICES) -> list[Staff]:
    """Give staff by name. With `search`, give those that it finds."""
    rows = Staff.objects.of(workspace)
    rows = rows.matching(search) if search.strip() else rows
    return list(rows.by_name()[:most])


def _lock_staff(staff: Staff) -> Staff:
    """Lock the row and read it anew. Raises `StaffNotFound` if it was deleted meanwhile."""
    found = Staff.objects.select_for_update(no_key=True).filter(pk=staff.pk, deleted_at=None).first()
    if found is None:
        raise StaffNotFound
    return found


def _staff_snapshot(staff: Staff) -> dict[str, object]:
    return {"name": staff.name, "email": staff.email}

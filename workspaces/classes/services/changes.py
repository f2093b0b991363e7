"""Changes of one class: its times, its host and its number of seats."""

from datetime import UTC, datetime
from typing import Final, TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from agency.services.activity import changes_to
from config.errors import Conflict, InvalidInput
from workspaces.catalogue.models import Staff
from workspaces.catalogue.services import StaffNotFound, lock_staff_members
from workspaces.classes.models import ClassSession
from workspaces.classes.services.sessions import (
    call_change_handlers,
    check_times,
    lock_class,
    occupy_host,
    record_class_activity,
    require_scheduled,
)
from workspaces.classes.services.waiting_lists import fill_free_seats

# The fields that say when who is occupied.
OCCUPYING: Final = frozenset({"starts_at", "ends_at", "staff"})


class ClassWasChanged(Conflict):
    message = "This class was changed a moment ago. Look at it and try again."


class FewerSeatsThanTaken(InvalidInput):
    """The class would have fewer seats than participants."""

    def __init__(self, taken: int) -> None:
        super().__init__(f"The capacity field must be at least {taken}, the number of seats taken.", field="capacity")


class ClassChanges(TypedDict, total=False):
    """The fields of a class that can change. Fields left out stay; without an end the class keeps its length."""

    starts_at: datetime
    ends_at: datetime | None
    staff: Staff | None
    capacity: int


@transaction.atomic
def change_class(*, session: ClassSession, now: datetime, by: Actor, **changes: Unpack[ClassChanges]) -> ClassSession:
    """Change a class. New seats go to its waiting list. A series does not change it any more.

    Raises `ClassIsCancelled`, `ClassIsCompleted`, `ClassWasChanged`, `EndsBeforeItStarts`, `FewerSeatsThanTaken`,
    `StaffNotFound`, `TimeOutOfRange`, and a conflict if the host has no time.
    """
    lock_hosts(session.staff_id, changes.get("staff"))
    was_hosted_by, session = session.staff_id, lock_class(session)
    require_scheduled(session)
    if session.staff_id != was_hosted_by:
        raise ClassWasChanged
    before = session.starts_at, session.ends_at
    if apply_changes(session, changes, now):
        session.is_changed_alone = session.series_id is not None
        session.save(update_fields=["is_changed_alone"])
        record_class_activity(session=session, what="changed", by=by)
        if (session.starts_at, session.ends_at) != before:
            call_change_handlers(session, "moved", None, now)
        fill_free_seats(session, now)
    return session


def lock_hosts(host: int | None, new: Staff | None) -> None:
    """Lock a host, and the one who takes over, before their classes. Raises `StaffNotFound`."""
    keys = {key for key in (host, new.pk if new else None) if key is not None}
    locked = {one.pk for one in lock_staff_members(keys)}
    if new is not None and new.pk not in locked:
        raise StaffNotFound


def apply_changes(session: ClassSession, changes: ClassChanges, now: datetime) -> bool:
    """Write the new values of a locked class. Says whether any differs. Raises the same as `change_class`."""
    wanted = changes_to(session, _with_end(session, changes))
    values = {name: after for name, (before, after) in wanted.items() if before != after}
    if not values:
        return False
    check_times(values.get("starts_at", session.starts_at), values.get("ends_at", session.ends_at))
    if values.get("capacity", session.capacity) < session.participants_count:
        raise FewerSeatsThanTaken(session.participants_count)
    for name, value in values.items():
        setattr(session, name, value)
    session.save(update_fields=[*values])
    if OCCUPYING & values.keys():
        occupy_host(session, now)
    return True


def _with_end(session: ClassSession, changes: ClassChanges) -> ClassChanges:
    """Fill the end in: a class that starts at another time keeps its length. Times are in UTC, as in the database."""
    values = changes.copy()
    if values.get("ends_at") is None:
        values.pop("ends_at", None)
        if "starts_at" in values:
            values["ends_at"] = values["starts_at"] + (session.ends_at - session.starts_at)
    if "starts_at" in values:
        values["starts_at"] = values["starts_at"].astimezone(UTC)
    if ends_at := values.get("ends_at"):
        values["ends_at"] = ends_at.astimezone(UTC)
    return values

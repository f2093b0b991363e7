"""Every change of staff and group classes: one verb, one function, one transaction."""

from workspaces.classes.services.sessions import (
    ClassIsCancelled,
    ClassIsCompleted,
    ClassIsFull,
    ClassNotFound,
    ParticipantNotFound,
    add_participant,
    cancel_class,
    complete_ended_classes,
    remove_participant,
    schedule_class,
)
from workspaces.classes.services.staff import (
    MOST_STAFF,
    StaffChanges,
    StaffInUse,
    StaffLimitReached,
    StaffNameTaken,
    StaffNotFound,
    change_staff,
    create_staff,
    delete_staff,
    staff_to_choose,
)

__all__ = [
    "MOST_STAFF",
    "ClassIsCancelled",
    "ClassIsCompleted",
    "ClassIsFull",
    "ClassNotFound",
    "ParticipantNotFound",
    "StaffChanges",
    "StaffInUse",
    "StaffLimitReached",
    "StaffNameTaken",
    "StaffNotFound",
    "add_participant",
    "cancel_class",
    "change_staff",
    "complete_ended_classes",
    "create_staff",
    "delete_staff",
    "remove_participant",
    "schedule_class",
    "staff_to_choose",
]

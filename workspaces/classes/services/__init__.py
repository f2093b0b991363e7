"""Every change of group classes: one verb, one function, one transaction."""

from workspaces.classes.services.changes import change_class
from workspaces.classes.services.participants import (
    ClassIsFull,
    ParticipantNotFound,
    add_participant,
    remove_participant,
)
from workspaces.classes.services.series import ClassSeriesNotFound, change_series, create_series, end_series
from workspaces.classes.services.sessions import (
    ClassIsCancelled,
    ClassIsCompleted,
    ClassNotFound,
    cancel_class,
    complete_ended_classes,
    open_classes,
    schedule_class,
)
from workspaces.classes.services.waiting_lists import WaitingListEntryNotFound, join_waiting_list, leave_waiting_list

__all__ = [
    "ClassIsCancelled",
    "ClassIsCompleted",
    "ClassIsFull",
    "ClassNotFound",
    "ClassSeriesNotFound",
    "ParticipantNotFound",
    "WaitingListEntryNotFound",
    "add_participant",
    "cancel_class",
    "change_class",
    "change_series",
    "complete_ended_classes",
    "create_series",
    "end_series",
    "join_waiting_list",
    "leave_waiting_list",
    "open_classes",
    "remove_participant",
    "schedule_class",
]

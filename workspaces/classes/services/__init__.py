"""Every change of group classes: one verb, one function, one transaction."""

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

__all__ = [
    "ClassIsCancelled",
    "ClassIsCompleted",
    "ClassIsFull",
    "ClassNotFound",
    "ParticipantNotFound",
    "add_participant",
    "cancel_class",
    "complete_ended_classes",
    "remove_participant",
    "schedule_class",
]

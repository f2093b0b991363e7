"""This app's registrations: events, handlers, menu entries, labels and fields of the activity log."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.event_types import event_types
from agency.pages.registry import ActivityAction, MenuEntry, Section, activity_actions, dashboard_menu
from agency.services.activity import RecordedAction, RecordedField, recorded_actions
from workspaces.catalogue.models import Service
from workspaces.catalogue.services import ServiceUse, service_uses
from workspaces.classes import events
from workspaces.classes.models import ClassSession
from workspaces.classes.serializers import ClassSessionSerializer, ParticipantContactSerializer, StaffSerializer
from workspaces.classes.services.sessions import MERGE_HANDLER, REMOVAL_HANDLER
from workspaces.contacts.services import contact_merge_handlers, contact_removal_handlers
from workspaces.subaccounts.events import workspace_event_type

# The values of staff's fields are hidden.

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "staff.changed": (RecordedField("name", _("Name"), hidden=True), RecordedField("email", _("E-mail"), hidden=True))
}


ACTIONS = {
    "staff.created": _("Staff member created"),
    "staff.changed": _("Staff member edited"),
    "staff.deleted": _("Staff member deleted"),
    "class.scheduled": _("Class scheduled"),
    "class.cancelled": _("Class cancelled"),
}
STAFF = ("Staff", "staff", StaffSerializer)
CLASSES = ("Classes", "class", ClassSessionSerializer)
OVER = {"starts_at": "2026-11-20T08:30:00Z", "ends_at": "2026-11-20T09:30:00Z", "status": "completed"}


def has_scheduled_classes(service: Service) -> bool:
    return service.class_sessions.filter(status=ClassSession.Status.SCHEDULED).exists()


for name, label, (group, resource, serializer), sample in (
    (events.STAFF_CREATED, "Staff member created", STAFF, {}),
    (events.STAFF_UPDATED, "Staff member changed", STAFF, {}),
    (events.STAFF_DELETED, "Staff member deleted", STAFF, {}),
    (events.CLASS_SCHEDULED, "Class scheduled", CLASSES, {"participants_count": 0}),
    (events.CLASS_CANCELLED, "Class cancelled", CLASSES, {"status": "cancelled"}),
    (events.CLASS_COMPLETED, "Class completed", CLASSES, OVER),
    (events.CLASS_FULL, "Class full", CLASSES, {"participants_count": 12}),
):
    event_types.add(
        workspace_event_type(name, label, group=group, resource=resource, serializer=serializer, sample=sample)
    )
for name, label in (
    (events.PARTICIPANT_ADDED, "Participant added to a class"),
    (events.PARTICIPANT_REMOVED, "Participant removed from a class"),
):
    event_types.add(
        workspace_event_type(
            name,
            label,
            group="Classes",
            resource="class",
            serializer=ClassSessionSerializer,
            contact=ParticipantContactSerializer(),
        )
    )
contact_removal_handlers.add(REMOVAL_HANDLER)
contact_merge_handlers.add(MERGE_HANDLER)
service_uses.add(
    ServiceUse("classes", has_scheduled_classes, "Classes are scheduled with this service. Cancel them first.")
)
dashboard_menu.add(
    MenuEntry(url_name="app:classes", label=_("Classes"), icon="calendar", section=Section.CATALOGUE, order=44),
    MenuEntry(url_name="app:staff", label=_("Staff"), icon="team", section=Section.CATALOGUE, order=46),
)
recorded_actions.add(*RecordedAction.from_fields(FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS))

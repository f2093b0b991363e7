"""This app's registrations: events, handlers, menu entries, labels and fields of the activity log."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from agency.event_types import event_types
from agency.notification_kinds import notification_kinds
from agency.pages.help import DASHBOARD, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    MenuEntry,
    activity_actions,
    activity_details,
    dashboard_menu,
)
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import ServiceUse, StaffUse, service_uses, staff_uses
from workspaces.classes import events
from workspaces.classes.dashboard.panels import TODAY, classes_of_contact, classes_of_timeline
from workspaces.classes.models import ClassSession
from workspaces.classes.serializers import ClassSessionSerializer, ParticipantContactSerializer
from workspaces.classes.services.participants import MERGE_HANDLER, REMOVAL_HANDLER
from workspaces.classes.services.series_making import NOTIFICATION_KINDS
from workspaces.contacts.pages import ContactPanel, TimelineSource, contact_panels, timeline_sources
from workspaces.contacts.services import contact_merge_handlers, contact_removal_handlers
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.pages.home import home_sections

ACTIONS = {
    "class.scheduled": _("Class scheduled"),
    "class.changed": _("Class changed"),
    "class.cancelled": _("Class cancelled"),
    "class.seat_removed": _("Seat in a class removed"),
    "class.waiting_list_left": _("Taken off a waiting list"),
    "class_series.created": _("Class series created"),
    "class_series.changed": _("Class series changed"),
    "class_series.ended": _("Class series ended"),
}
CLASSES = ("Classes", "class", ClassSessionSerializer)
OVER = {"starts_at": "2026-11-20T08:30:00Z", "ends_at": "2026-11-20T09:30:00Z", "status": "completed"}


def has_scheduled_classes(planned: Service | Staff) -> bool:
    return planned.class_sessions.filter(status=ClassSession.Status.SCHEDULED).exists()


def has_class_series(planned: Service | Staff) -> bool:
    """Say whether a series goes on that will make classes with a service or a staff member."""
    return planned.class_series.filter(due_at__isnull=False).exists()


for name, label, (group, resource, serializer), sample in (
    (events.CLASS_SCHEDULED, gettext_noop("Class scheduled"), CLASSES, {"participants_count": 0}),
    (events.CLASS_CANCELLED, gettext_noop("Class cancelled"), CLASSES, {"status": "cancelled"}),
    (events.CLASS_COMPLETED, gettext_noop("Class completed"), CLASSES, OVER),
    (events.CLASS_FULL, gettext_noop("Class full"), CLASSES, {"participants_count": 12}),
):
    event_types.add(
        workspace_event_type(name, label, group=group, resource=resource, serializer=serializer, sample=sample)
    )
for name, label in (
    (events.PARTICIPANT_ADDED, gettext_noop("Participant added to a class")),
    (events.PARTICIPANT_REMOVED, gettext_noop("Participant removed from a class")),
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
    ServiceUse("classes", has_scheduled_classes, "Classes are scheduled with this service. Cancel them first."),
    ServiceUse("class series", has_class_series, "A class series goes on with this service. End it first."),
)
staff_uses.add(
    StaffUse("classes", has_scheduled_classes, "Classes are scheduled with this staff member. Cancel them first."),
    StaffUse("class series", has_class_series, "A class series goes on with this staff member. End it first."),
)
notification_kinds.add(*NOTIFICATION_KINDS)
home_sections.add(TODAY)
dashboard_menu.add(MenuEntry(url_name="app:classes", label=_("Classes"), icon="calendar", order=19))
contact_panels.add(
    ContactPanel(
        name="classes",
        order=6,
        template="classes/_contact_panel.html",
        inbox_template="classes/_inbox_panel.html",
        content=classes_of_contact,
    )
)
timeline_sources.add(TimelineSource(name="classes", entries=classes_of_timeline))
activity_actions.add(*ActivityAction.from_labels(ACTIONS, _("Classes")))
activity_details.add(
    ActivityDetail("class.class"),
    ActivityDetail("class_series.first_date", _("First day")),
    ActivityDetail("starts_at", _("Starts")),
)
guides.add(
    Guide(
        area=DASHBOARD,
        slug="classes",
        title=_("Classes"),
        summary=_("Hold classes with a fixed number of seats."),
        picture=_("The page of a class with no participants yet, and the search for a contact to add."),
        order=110,
        pages=("classes",),
        related=("services", "contacts"),
    )
)

"""This app's registrations."""

from django.utils.translation import gettext_lazy as _

from agency.notification_kinds import notification_kinds
from agency.pages.registry import ActivityAction, activity_actions
from workspaces.appointments.services.calendar_reading import NOTIFICATION_KINDS as CALENDAR_NOTIFICATIONS

# Calendars of other programs
activity_actions.add(
    *ActivityAction.from_labels(
        {
            "external_calendar.added": _("Calendar from elsewhere added"),
            "external_calendar.removed": _("Calendar from elsewhere removed"),
        }
    )
)
notification_kinds.add(*CALENDAR_NOTIFICATIONS)

"""This app's registrations: events, handlers, menu entries, panels, labels and fields of the activity log."""

from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from agency.event_types import event_types
from agency.notification_kinds import notification_kinds
from agency.pages.help import DASHBOARD, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    MenuEntry,
    Section,
    activity_actions,
    activity_details,
    dashboard_menu,
)
from agency.services.activity import RecordedAction, RecordedField, ValueFormat, recorded_actions
from agency.services.mail.attachments import mail_attachments
from agency.services.mail.content import mail_links
from config.api.fields import DictField
from config.retention import retention_rules
from workspaces.appointments import events
from workspaces.appointments.dashboard.appointments import TODAY, appointments_of_contact, appointments_of_timeline
from workspaces.appointments.serializers import AppointmentSerializer
from workspaces.appointments.services import mails
from workspaces.appointments.services.booking import CLASS_SCHEDULE_HANDLER, appointment_handlers
from workspaces.appointments.services.booking_pages import booking_url
from workspaces.appointments.services.calendar_reading import NOTIFICATION_KINDS as CALENDAR_NOTIFICATIONS
from workspaces.appointments.services.class_bookings import CLASS_CHANGE_HANDLER, booked_by_visitors
from workspaces.appointments.services.deposits import PAYMENT_HANDLER
from workspaces.appointments.services.moves import MERGE_HANDLER, REMOVAL_HANDLER, has_planned_appointments
from workspaces.appointments.services.visitors import RETENTION_RULES
from workspaces.catalogue.services import ServiceUse, StaffUse, service_uses, staff_uses
from workspaces.classes.dashboard.classes import SeatSource, seat_sources
from workspaces.classes.services.sessions import class_change_handlers, class_schedule_handlers
from workspaces.contacts.pages import ContactPanel, TimelineSource, contact_panels, timeline_sources
from workspaces.contacts.services import contact_merge_handlers, contact_removal_handlers
from workspaces.finance.services.received_payments import payment_handlers
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.pages.home import home_sections
from workspaces.subaccounts.services.settings import SettingDefault, setting_defaults

ACTIONS: Final = {
    "appointment.booked": _("Appointment booked"),
    "appointment.confirmed": _("Appointment confirmed"),
    "appointment.rescheduled": _("Appointment moved"),
    "appointment.cancelled": _("Appointment cancelled"),
    "appointment.completed": _("Appointment completed"),
    "appointment.missed": _("Appointment missed"),
    "staff.hours_changed": _("Working hours changed"),
    "staff.time_off_added": _("Time off added"),
    "staff.time_off_removed": _("Time off removed"),
    "external_calendar.added": _("Other calendar added"),
    "external_calendar.removed": _("Other calendar removed"),
    "calendar_feed.created": _("Calendar address created"),
    "calendar_feed.renewed": _("Calendar address renewed"),
    "calendar_feed.removed": _("Calendar address removed"),
}
FIELDS: Final = {
    "appointment.rescheduled": (
        RecordedField("starts_at", _("Start"), ValueFormat.MOMENT),
        RecordedField("ends_at", _("End"), ValueFormat.MOMENT),
        RecordedField("staff", _("Staff"), hidden=True),
    )
}
OVER: Final = {"starts_at": "2026-11-20T08:30:00Z", "ends_at": "2026-11-20T09:15:00Z"}
MOVED: Final = {"starts_at": {"from": "2026-11-30T09:00:00Z", "to": "2026-12-01T09:00:00Z"}}
CHANGES: Final = DictField(
    help_text="`{field: {from, to}}` of `starts_at`, `ends_at` and `staff`, where they changed.", example=MOVED
)

for name, label, sample, beside in (
    (events.APPOINTMENT_BOOKED, gettext_noop("Appointment booked"), {}, {}),
    (events.APPOINTMENT_CONFIRMED, gettext_noop("Appointment confirmed"), {"status": "confirmed"}, {}),
    (events.APPOINTMENT_RESCHEDULED, gettext_noop("Appointment moved to another time"), {}, {"changes": CHANGES}),
    (events.APPOINTMENT_CANCELLED, gettext_noop("Appointment cancelled"), {"status": "cancelled"}, {}),
    (events.APPOINTMENT_COMPLETED, gettext_noop("Appointment completed"), {**OVER, "status": "completed"}, {}),
    (events.APPOINTMENT_MISSED, gettext_noop("Appointment missed"), {**OVER, "status": "missed"}, {}),
):
    event_types.add(
        workspace_event_type(
            name,
            label,
            group="Appointments",
            resource="appointment",
            serializer=AppointmentSerializer,
            sample=sample,
            **beside,
        )
    )
class_schedule_handlers.add(CLASS_SCHEDULE_HANDLER)
class_change_handlers.add(CLASS_CHANGE_HANDLER)
seat_sources.add(SeatSource("booking page", _("Booking page"), booked_by_visitors))
contact_removal_handlers.add(REMOVAL_HANDLER)
contact_merge_handlers.add(MERGE_HANDLER)
service_uses.add(
    ServiceUse("appointments", has_planned_appointments, "Appointments are booked for this service. Cancel them first.")
)
staff_uses.add(
    StaffUse(
        "appointments",
        has_planned_appointments,
        "Appointments are booked with this staff member. Cancel or move them first.",
    )
)
recorded_actions.add(*RecordedAction.from_fields(FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS, _("Appointments")))
activity_details.add(ActivityDetail("external_calendar.calendar", _("Calendar")))

# The booking page, and the e-mails to its visitors.
appointment_handlers.add(mails.MAIL_HANDLER)
mail_attachments.add(*mails.ATTACHMENTS)
mail_links.add(*mails.LINKS)
setting_defaults.add(SettingDefault("booking_link", lambda workspace: booking_url(workspace) or ""))
payment_handlers.add(PAYMENT_HANDLER)
retention_rules.add(*RETENTION_RULES)
home_sections.add(TODAY)
dashboard_menu.add(
    MenuEntry(url_name="app:booking-page", label=_("Booking page"), icon="globe", section=Section.SETTINGS, order=52)
)
activity_actions.add(
    *ActivityAction.from_labels({"booking_page.changed": _("Booking page changed")}, _("Appointments"))
)
recorded_actions.add(
    *RecordedAction.from_fields(
        {
            "booking_page.changed": (
                RecordedField("slug", _("Address")),
                RecordedField("enabled", _("Switched on"), ValueFormat.SWITCH),
                RecordedField("introduction", _("Introduction")),
                RecordedField("cancel_notice_minutes", _("Latest change, in minutes before"), ValueFormat.NUMBER),
                RecordedField("offers_classes", _("Visitors can book seats in classes"), ValueFormat.SWITCH),
            )
        }
    )
)
notification_kinds.add(*CALENDAR_NOTIFICATIONS)
dashboard_menu.add(MenuEntry(url_name="app:calendar", label=_("Calendar"), icon="calendar", order=18))
timeline_sources.add(TimelineSource(name="appointments", entries=appointments_of_timeline))
contact_panels.add(
    ContactPanel(
        name="appointments",
        order=5,
        template="appointments/_contact_panel.html",
        inbox_template="appointments/_inbox_panel.html",
        content=appointments_of_contact,
    )
)
guides.add(
    Guide(
        area=DASHBOARD,
        slug="booking-page",
        title=_("Booking page"),
        summary=_("Let your customers book by themselves."),
        picture=_("The settings of the booking page: whether it is on, its address and its introduction."),
        order=100,
        pages=("booking-page",),
        related=("services", "invoices"),
    )
)

"""This app's registrations."""

from django.utils.translation import gettext_lazy as _

from agency.pages.registry import ActivityAction, activity_actions
from agency.services.activity import RecordedAction, RecordedField, ValueFormat, recorded_actions
from agency.services.mail.attachments import mail_attachments
from agency.services.mail.content import mail_links
from workspaces.appointments.services import mails
from workspaces.appointments.services.booking import appointment_handlers
from workspaces.appointments.services.booking_pages import booking_url
from workspaces.subaccounts.services.settings import SettingDefault, setting_defaults

# The booking page, and the e-mails to visitors.
appointment_handlers.add(mails.MAIL_HANDLER)
mail_attachments.add(*mails.ATTACHMENTS)
mail_links.add(*mails.LINKS)
setting_defaults.add(SettingDefault("booking_link", lambda workspace: booking_url(workspace) or ""))
activity_actions.add(*ActivityAction.from_labels({"booking_page.changed": _("Booking page changed")}))
recorded_actions.add(
    *RecordedAction.from_fields(
        {
            "booking_page.changed": (
                RecordedField("slug", _("Address")),
                RecordedField("enabled", _("Switched on"), ValueFormat.SWITCH),
                RecordedField("introduction", _("Introduction")),
                RecordedField("cancel_notice_minutes", _("Latest change, in minutes before"), ValueFormat.NUMBER),
            )
        }
    )
)

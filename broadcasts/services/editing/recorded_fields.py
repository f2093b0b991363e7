"""The fields of broadcasts whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity.fields import RecordedField, Shown
from broadcasts import events

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    events.UPDATED: (
        RecordedField("name", _("Name")),
        RecordedField("channel", _("Channel"), hidden=True),
        RecordedField("type", _("Kind"), hidden=True),
        RecordedField("audience", _("Audience"), hidden=True),
        RecordedField("message", _("Message"), hidden=True),
        RecordedField("timezone_mode", _("Time zone"), hidden=True),
        RecordedField("scheduled_at", _("When"), Shown.MOMENT),
        RecordedField("scheduled_local_at", _("When"), hidden=True),
        RecordedField("requires_approval", _("Has to be approved"), Shown.SWITCH),
        RecordedField("source_broadcast_id", _("Earlier broadcast"), hidden=True),
        RecordedField("retarget_engagement", _("Those who"), hidden=True),
    ),
}

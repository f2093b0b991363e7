"""The fields of webhooks whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity.fields import RecordedField, Shown

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "webhook.changed": (
        RecordedField("url", _("URL"), cut_at="?"),
        RecordedField("events", _("Events")),
        RecordedField("description", _("Description")),
        RecordedField("enabled", _("Enabled"), Shown.SWITCH),
        RecordedField("retries", _("Retries")),
    ),
}

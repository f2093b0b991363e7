"""The fields of webhooks whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity import RecordedField, ValueFormat

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "webhook.changed": (
        RecordedField("url", _("URL"), cut_at="?"),
        RecordedField("events", _("Events")),
        RecordedField("description", _("Description")),
        RecordedField("enabled", _("Enabled"), ValueFormat.SWITCH),
        RecordedField("retries", _("Retries")),
    ),
}

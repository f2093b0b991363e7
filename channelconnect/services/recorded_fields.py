"""Which fields of channel connect keep their values in the activity log, and how they are shown."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity.fields import RecordedField

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "connect.return_urls_changed": (RecordedField("return_urls", _("Return URLs")),),
}

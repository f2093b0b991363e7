"""The fields of channel connect whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity import RecordedField

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "connect.return_urls_changed": (RecordedField("return_urls", _("Return URLs")),),
}

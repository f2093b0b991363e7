"""The fields of staff that the activity log names in a change. Their values are hidden."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity import RecordedField

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "staff.changed": (
        RecordedField("name", _("Name"), hidden=True),
        RecordedField("email", _("E-mail"), hidden=True),
    ),
}

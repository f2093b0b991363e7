"""The fields of segments whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity import RecordedField
from workspaces.contacts import events

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    events.SEGMENT_UPDATED: (
        RecordedField("name", _("Name")),
        RecordedField("filter", _("Filter"), hidden=True),
    ),
}

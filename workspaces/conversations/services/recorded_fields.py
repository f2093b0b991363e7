"""The fields of the inbox's settings whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity import RecordedField

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "conversations.opt_out_words_changed": (RecordedField("opt_out_words", _("Words that opt out")),),
    "saved_reply.changed": (
        RecordedField("name", _("Name")),
        RecordedField("text", _("Text"), hidden=True),
    ),
}

"""The fields of automations whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity import RecordedField, ValueFormat
from workspaces.automations.flows.requirements import REQUIREMENTS

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "automation.renamed": (RecordedField("name", _("Name")),),
    "readiness.changed": tuple(
        RecordedField(name, _(label), ValueFormat.SWITCH) for name, label in REQUIREMENTS.items()
    ),
}

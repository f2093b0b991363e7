"""The fields of packs whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity import RecordedField, ValueFormat
from packs.library import Industry
from packs.models import Pack, PackEntry
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.subaccounts.models.workspaces import BusinessType

REQUIRED = tuple((name, _(label)) for name, label in REQUIREMENTS.items())

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "pack.changed": (
        RecordedField("name", _("Name")),
        RecordedField("summary", _("Summary")),
        RecordedField("industry", _("Industry"), choices=Industry.choices),
        RecordedField("business_type", _("Business type"), choices=BusinessType.choices),
        RecordedField("status", _("Status"), choices=Pack.Status.choices),
    ),
    "pack.entry_changed": (
        RecordedField("name_override", _("Name")),
        RecordedField("description_override", _("Description")),
        RecordedField("tier", _("Tier"), choices=PackEntry.Tier.choices),
        RecordedField("requires", _("What a customer must have before it can be switched on"), choices=REQUIRED),
    ),
    "packs.visibility_changed": (
        RecordedField("replace_platform", _("Only your own packs are shown"), ValueFormat.SWITCH),
    ),
}

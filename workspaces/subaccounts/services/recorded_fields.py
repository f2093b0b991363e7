"""The fields of a sub-account whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity import LIMIT_FIELDS, RecordedField, ValueFormat
from workspaces.subaccounts.models.workspaces import BusinessType

OWNER = (RecordedField("email", _("Owner's e-mail"), agency_only=True),)

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "workspace.changed": (
        RecordedField("name", _("Name")),
        RecordedField("business_type", _("Business type"), choices=BusinessType.choices),
        RecordedField("timezone", _("Time zone")),
        RecordedField("external_id", _("External ID"), agency_only=True),
        RecordedField("metadata", _("Metadata"), hidden=True, agency_only=True),
        RecordedField("currency", _("Currency")),
        RecordedField("opening_hours", _("Opening hours")),
        RecordedField("address", _("Address")),
        RecordedField("phone", _("Phone number")),
        RecordedField("email", _("E-mail")),
        RecordedField("website", _("Website"), cut_at="?"),
        RecordedField("booking_link", _("Booking link"), cut_at="?"),
        RecordedField("review_link", _("Review link"), cut_at="?"),
        RecordedField("menu_link", _("Link to the menu"), cut_at="?"),
        RecordedField("two_factor_required", _("Two-factor is required"), ValueFormat.SWITCH),
        RecordedField("first_steps_hidden", _("First steps hidden"), ValueFormat.SWITCH),
    ),
    "plan.assigned": (RecordedField("plan", _("Plan")), *LIMIT_FIELDS),
    "addon.granted": LIMIT_FIELDS,
    "addon.revoked": LIMIT_FIELDS,
    "workspace.owner_replaced": OWNER,
    "workspace.owner_handed_over": OWNER,
}

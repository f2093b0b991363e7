"""The fields of the agency app's own objects whose values the activity log keeps, and how they are shown."""

from typing import Final

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from agency.models import MailSettings, Member
from agency.services.activity.fields import LIMIT_FIELDS, RecordedField, Shown

ITEM = (RecordedField("name", _("Name")), RecordedField("description", _("Description")), *LIMIT_FIELDS)
LANGUAGE = RecordedField("language", _("Language"), choices=settings.LANGUAGES)

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "agency.changed": (
        RecordedField("name", _("Name")),
        RecordedField("max_sub_accounts", _("Sub-accounts"), Shown.LIMIT),
    ),
    "agency.two_factor_required": (
        RecordedField("roles", _("Two-factor is required for"), choices=Member.Role.choices),
    ),
    "agency.language_changed": (LANGUAGE,),
    "brand.colour_changed": (RecordedField("accent", _("Colour")),),
    "plan.changed": ITEM,
    "addon.changed": ITEM,
    "plan.default_chosen": (RecordedField("default_plan", _("Default plan")),),
    "member.role_changed": (RecordedField("role", _("Role"), choices=Member.Role.choices),),
    "mail.sender_changed": (
        RecordedField("sender_name", _("Sender's name")),
        RecordedField("reply_to", _("Answers go to")),
    ),
    "mail.server_changed": (
        RecordedField("host", _("Server")),
        RecordedField("port", _("Port")),
        RecordedField("security", _("Encryption"), choices=MailSettings.Security.choices),
        RecordedField("from_address", _("Sender's address")),
        RecordedField("username", _("User name"), hidden=True),
        RecordedField("password", _("Password"), hidden=True),
    ),
    "sign_up.changed": (
        RecordedField("is_on", _("Customers can sign up"), Shown.SWITCH),
        RecordedField("allows_further_workspaces", _("Customers can add workspaces"), Shown.SWITCH),
        RecordedField("terms_url", _("Address of your terms"), cut_at="?"),
        RecordedField("privacy_url", _("Address of your privacy notice"), cut_at="?"),
    ),
    "user.changed": (
        RecordedField("name", _("Name"), hidden=True),
        RecordedField("is_active", _("May sign in"), Shown.SWITCH),
        RecordedField("is_staff", _("Support"), Shown.SWITCH),
        RecordedField("is_superuser", _("All rights"), Shown.SWITCH),
        LANGUAGE,
        RecordedField("time_zone", _("Time zone")),
        RecordedField("groups", _("Groups of rights")),
    ),
}

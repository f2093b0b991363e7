"""What an agency writes about a sub-account."""

from config.api.fields import Choice, Email, Text, Uuid, Zone
from config.api.words import Words
from workspaces.subaccounts.models.workspaces import BusinessType

LONGEST_REASON = 500


class OwnerWords(Words):
    name = Text(max_length=120)
    email = Email()


class NewWorkspace(Words):
    name = Text(max_length=120)
    owner = OwnerWords()
    plan = Uuid(required=False, allow_null=True, default=None)
    business_type = Choice(BusinessType.choices, required=False, allow_null=True, default=None)
    timezone = Zone(required=False, default="UTC")


class WorkspaceChanges(Words):
    name = Text(max_length=120)
    business_type = Choice(BusinessType.choices, allow_null=True)
    timezone = Zone()


class Suspension(Words):
    reason = Text(max_length=LONGEST_REASON, required=False, allow_blank=True, allow_null=True, multiline=True)


class PlanChoice(Words):
    plan = Uuid()


class AddonChoice(Words):
    addon = Uuid()

"""What an agency writes about a sub-account."""

from config.api.fields import CharField, ChoiceField, EmailField, TimezoneField, UUIDField
from config.api.serializers import Serializer
from workspaces.subaccounts.models.workspaces import BusinessType

LONGEST_REASON = 500


class OwnerWords(Serializer):
    name = CharField(max_length=120)
    email = EmailField()


class NewWorkspace(Serializer):
    name = CharField(max_length=120)
    owner = OwnerWords()
    plan = UUIDField(required=False, allow_null=True, default=None)
    business_type = ChoiceField(BusinessType.choices, required=False, allow_null=True, default=None)
    timezone = TimezoneField(required=False, default="UTC")


class WorkspaceChanges(Serializer):
    name = CharField(max_length=120)
    business_type = ChoiceField(BusinessType.choices, allow_null=True)
    timezone = TimezoneField()


class Suspension(Serializer):
    reason = CharField(max_length=LONGEST_REASON, required=False, allow_blank=True, allow_null=True, multiline=True)


class PlanChoice(Serializer):
    plan = UUIDField()


class AddonChoice(Serializer):
    addon = UUIDField()

"""Sub-accounts and channels, on both surfaces."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from agency.api import AddonReferenceSerializer, LimitsSerializer, PlanReferenceSerializer
from agency.limits import CHANNEL_TYPES
from agency.models import Addon, Plan
from agency.services import AddonNotFound, PlanNotFound
from config.api.fields import BooleanField, ChoiceField, DateTimeField, IntegerField, ListField, UUIDField
from config.api.keys import MOST_NETWORKS
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField, EmailField, MetadataField, NetworkField, TimezoneField
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.models.workspaces import LONGEST_EXTERNAL_ID, BusinessType

LONGEST_NAME = 120
LONGEST_REASON = 500


def plans_of_caller(context: Mapping[str, Any]) -> "QuerySet[Plan]":
    return Plan.objects.filter(agency=context["view"].agency, archived_at=None)


def addons_of_caller(context: Mapping[str, Any]) -> "QuerySet[Addon]":
    return Addon.objects.filter(agency=context["view"].agency, archived_at=None)


def external_id() -> CharField:
    return CharField(
        max_length=LONGEST_EXTERNAL_ID,
        required=False,
        allow_blank=True,
        allow_null=True,
        default=None,
        help_text="Your own id of it; no two of your sub-accounts have the same.",
        example="crm-4711",
    )


def metadata() -> MetadataField:
    return MetadataField(help_text="Texts of your own by name.", example={"region": "north"})


class OwnerSerializer(Serializer):
    """Who runs the sub-account."""

    name = CharField(source="owner_name", max_length=LONGEST_NAME, example="Ada")
    email = EmailField(source="owner_email", example="ada@example.com")


class SubAccountReferenceSerializer(Serializer):
    """A sub-account as events carry it."""

    uuid = UUIDField(read_only=True, example="8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10")
    name = CharField(max_length=LONGEST_NAME, example="Corner Salon")
    status = ChoiceField(Workspace.Status.choices, read_only=True)
    plan = TenantRelatedField(
        queryset=plans_of_caller,
        missing=PlanNotFound,
        representation=PlanReferenceSerializer(),
        required=False,
        allow_null=True,
        default=None,
    )


class SubAccountSerializer(SubAccountReferenceSerializer):
    """A sub-account."""

    owner = OwnerSerializer(source="*")
    business_type = ChoiceField(
        BusinessType.choices, required=False, allow_null=True, default=None, example=BusinessType.SALON_SPA.value
    )
    timezone = TimezoneField(
        required=False, default="UTC", help_text="IANA name, such as Europe/Berlin.", example="Europe/Berlin"
    )
    created_at = DateTimeField(read_only=True)
    suspended_at = DateTimeField(read_only=True, allow_null=True)
    external_id = external_id()
    metadata = metadata()


class SubAccountEventSerializer(Serializer):
    """What events about a sub-account carry."""

    workspace = SubAccountReferenceSerializer()


class SubscriptionChangedSerializer(SubAccountEventSerializer):
    """The sub-account and its new plan."""

    plan = PlanReferenceSerializer()


class AddonEventSerializer(SubAccountEventSerializer):
    """The sub-account and the add-on."""

    addon = AddonReferenceSerializer()


class SubAccountChangesSerializer(Serializer):
    """What can be changed of a sub-account."""

    name = CharField(max_length=LONGEST_NAME, example="Corner Salon and Spa")
    business_type = ChoiceField(BusinessType.choices, allow_null=True, example=BusinessType.SALON_SPA.value)
    timezone = TimezoneField(example="Europe/Berlin")
    external_id = external_id()
    metadata = metadata()


class NewOwnerSerializer(Serializer):
    """Who is to own the sub-account."""

    name = CharField(max_length=LONGEST_NAME, example="Grace")
    email = EmailField(example="grace@example.com")


class UsageOfLimitSerializer(Serializer):
    """How much of one limit is used."""

    used = IntegerField(example=1)
    limit = IntegerField(allow_null=True, help_text="Null means no limit.", example=5)


class ChannelUsageSerializer(Serializer):
    """How many channels of each type there are."""

    def get_fields(self) -> dict[str, Any]:
        return {name: UsageOfLimitSerializer() for name in CHANNEL_TYPES}


class UsageSerializer(Serializer):
    """How much a sub-account uses of what it may."""

    contacts = UsageOfLimitSerializer()
    team_members = UsageOfLimitSerializer()
    broadcasts_per_month = UsageOfLimitSerializer()
    channels = ChannelUsageSerializer()


class ChannelSerializer(Serializer):
    """A connected number, Page or account."""

    id = UUIDField(source="uuid", example="5a8d7c36-1b0e-4d7f-9d55-3f2b1c0a9e84")
    platform = ChoiceField(CHANNEL_TYPES)
    name = CharField(example="Front desk")
    status = ChoiceField(Channel.Status.choices)
    handle = CharField(help_text="The phone number, Page name or @username.", example="+1 555 0100")
    connected_at = DateTimeField()


class SubAccountDetailSerializer(SubAccountSerializer):
    """A sub-account with its add-ons, limits and channels."""

    addons = AddonReferenceSerializer(many=True, source="granted_addons")
    limits = LimitsSerializer()
    channels = ChannelSerializer(many=True, source="connected_channels")


class SuspensionSerializer(Serializer):
    """Why a sub-account is suspended, for the agency's own staff."""

    reason = CharField(
        max_length=LONGEST_REASON,
        required=False,
        default="",
        blank_as_null=True,
        multiline=True,
        example="Invoice overdue",
    )


class PlanChoiceSerializer(Serializer):
    """The plan to assign."""

    plan = TenantRelatedField(
        queryset=plans_of_caller,
        missing=PlanNotFound,
        representation=PlanReferenceSerializer(),
        example="3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11",
    )


class AddonChoiceSerializer(Serializer):
    """The add-on to grant."""

    addon = TenantRelatedField(
        queryset=addons_of_caller,
        missing=AddonNotFound,
        representation=AddonReferenceSerializer(),
        example="b7c1b2de-0a65-4a40-8f0b-5f2a6d0c9e42",
    )


class RevokedSerializer(Serializer):
    """Confirmation."""

    revoked = BooleanField(example=True)


class NewKeySerializer(Serializer):
    """A key to be made; what it cannot have is refused rather than left out."""

    refuses_unknown_fields = True
    unknown_fields = {"scopes": "Scopes cannot be chosen yet: a key may do everything."}

    name = CharField(max_length=LONGEST_NAME, example="Shop")
    expires_at = DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Until when it works, at most ten years ahead; null for good.",
        example="2027-06-30T00:00:00Z",
    )
    allowed_networks = ListField(
        child=NetworkField(example="192.0.2.0/24"),
        max_length=MOST_NETWORKS,
        required=False,
        allow_null=True,
        default=list,
        help_text="From where it works: addresses and networks (CIDR) of IPv4 and IPv6; none for everywhere.",
        example=["192.0.2.0/24", "2001:db8::/48"],
    )


class KeySerializer(Serializer):
    """An API key of a sub-account."""

    uuid = UUIDField(example="0d9c1f6e-3a47-4a53-9c1d-7c5b0e8f2a61")
    name = CharField(example="Shop")
    prefix = CharField(help_text="The first 12 characters of the key.", example="svc_Ab3dEf6h")
    expires_at = DateTimeField(allow_null=True, example="2027-06-30T00:00:00Z")
    allowed_networks = ListField(child=CharField(example="192.0.2.0/24"), example=["192.0.2.0/24", "2001:db8::/48"])
    created_by = CharField(blank_as_null=True, example="CRM sync")
    created_at = DateTimeField()
    last_used_at = DateTimeField(allow_null=True)


class KeyWithPlaintextSerializer(KeySerializer):
    """The key with its plaintext, which is shown this once."""

    key = CharField(example="svc_0000000000000000000000000000000000000000")


class KeyRollSerializer(Serializer):
    """Until when the old key works beside the new one."""

    refuses_unknown_fields = True
    unknown_fields = NewKeySerializer.unknown_fields

    old_valid_until = DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="At most 7 days ahead; without it the old key ends at once.",
        example=None,
    )


class RolledKeySerializer(KeyWithPlaintextSerializer):
    """The new key with its plaintext, which is shown this once, and when the old one ends."""

    old_valid_until = DateTimeField(example="2026-11-25T09:30:00Z")

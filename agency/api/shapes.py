"""The agency's answers as the OpenAPI document describes them."""

from typing import Any

from rest_framework import serializers

from agency.limits import CHANNEL_TYPES

NO_LIMIT = "Null means no limit."


class ChannelLimits(serializers.Serializer[Any]):
    """How many channels of each type."""

    def get_fields(self) -> dict[str, Any]:
        return {name: serializers.IntegerField(allow_null=True, min_value=0) for name in CHANNEL_TYPES}


class LimitsShape(serializers.Serializer[Any]):
    """What a plan or an add-on allows."""

    contacts = serializers.IntegerField(allow_null=True, min_value=0, help_text=NO_LIMIT)
    team_members = serializers.IntegerField(allow_null=True, min_value=0, help_text=NO_LIMIT)
    broadcasts_per_month = serializers.IntegerField(allow_null=True, min_value=0, help_text=NO_LIMIT)
    channels = ChannelLimits()

    class Meta:
        ref_name = "Limits"


class Reference(serializers.Serializer[Any]):
    """A plan or an add-on by its id and name."""

    uuid = serializers.UUIDField()
    name = serializers.CharField()


LIMITS_EXAMPLE = {
    "contacts": 5000,
    "team_members": 5,
    "broadcasts_per_month": None,
    "channels": {name: 1 if name in {"whatsapp", "facebook", "instagram"} else 0 for name in CHANNEL_TYPES},
}
PLAN_EXAMPLE = {"uuid": "3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11", "name": "Growth"}
ADDON_EXAMPLE = {"uuid": "b7c1b2de-0a65-4a40-8f0b-5f2a6d0c9e42", "name": "Extra WhatsApp number"}


class CatalogueItem(serializers.Serializer[Any]):
    """A plan or an add-on of the agency."""

    uuid = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    limits = LimitsShape()

    class Meta:
        example = {**PLAN_EXAMPLE, "description": "For growing teams.", "limits": LIMITS_EXAMPLE}

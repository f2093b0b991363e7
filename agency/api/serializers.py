"""Plans and add-ons of an agency."""

from typing import Any

from agency.limits import CHANNEL_TYPES
from config.api.fields import CharField, IntegerField, UUIDField
from config.api.serializers import Serializer

INCLUDED = {"whatsapp", "facebook", "instagram"}


def limit(example: int | None) -> IntegerField:
    return IntegerField(allow_null=True, min_value=0, help_text="Null means no limit.", example=example)


class ChannelLimitsSerializer(Serializer):
    """How many channels of each type."""

    def get_fields(self) -> dict[str, Any]:
        return {name: limit(1 if name in INCLUDED else 0) for name in CHANNEL_TYPES}


class LimitsSerializer(Serializer):
    """What a plan or an add-on allows."""

    contacts = limit(5000)
    team_members = limit(5)
    broadcasts_per_month = limit(None)
    channels = ChannelLimitsSerializer()


class PlanReferenceSerializer(Serializer):
    """A plan by its id and name."""

    uuid = UUIDField(example="3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11")
    name = CharField(example="Growth")


class AddonReferenceSerializer(Serializer):
    """An add-on by its id and name."""

    uuid = UUIDField(example="b7c1b2de-0a65-4a40-8f0b-5f2a6d0c9e42")
    name = CharField(example="Extra WhatsApp number")


class PlanSerializer(PlanReferenceSerializer):
    """A base plan of the agency."""

    description = CharField(allow_blank=True, example="For growing teams.")
    limits = LimitsSerializer()


class AddonSerializer(AddonReferenceSerializer):
    """An add-on of the agency."""

    description = CharField(allow_blank=True, example="One number more than the plan has.")
    limits = LimitsSerializer()

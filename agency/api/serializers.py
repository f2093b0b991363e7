"""Plans and add-ons of an agency."""

from typing import Any, ClassVar

from agency.limits import CHANNEL_TYPES
from config.api.fields import UNSET, BooleanField, IntegerField, UUIDField
from config.api.serializers import Serializer
from config.api.text_fields import CharField

INCLUDED = {"whatsapp", "facebook", "instagram"}
LONGEST_NAME = 120
LONGEST_DESCRIPTION = 500


class DescriptionField(CharField):
    """A text that null empties, as an empty text does."""

    def run_validation(self, data: Any = UNSET) -> Any:
        return super().run_validation("" if data is None else data)


def description(example: str) -> CharField:
    return DescriptionField(
        max_length=LONGEST_DESCRIPTION,
        required=False,
        allow_null=True,
        default="",
        allow_blank=True,
        multiline=True,
        example=example,
    )


def limit(example: int | None, missing: int | None) -> IntegerField:
    """A limit; where a creation leaves it out it is `missing`."""
    return IntegerField(
        allow_null=True,
        min_value=0,
        required=False,
        default=missing,
        help_text="Null means no limit.",
        example=example,
    )


class ChannelLimitsSerializer(Serializer):
    """How many channels of each type."""

    missing: ClassVar[int | None] = None

    def get_fields(self) -> dict[str, Any]:
        return {name: limit(1 if name in INCLUDED else 0, self.missing) for name in CHANNEL_TYPES}


class AddedChannelLimitsSerializer(ChannelLimitsSerializer):
    """How many channels of each type an add-on adds."""

    missing = 0


class LimitsSerializer(Serializer):
    """What a plan allows; a new plan has no limit where one is left out."""

    contacts = limit(5000, None)
    team_members = limit(5, None)
    broadcasts_per_month = limit(None, None)
    channels = ChannelLimitsSerializer(required=False, default=lambda: dict.fromkeys(CHANNEL_TYPES))


class AddedLimitsSerializer(Serializer):
    """What an add-on adds to a plan's limits; a new one adds nothing where one is left out, null lifts the limit."""

    contacts = limit(0, 0)
    team_members = limit(0, 0)
    broadcasts_per_month = limit(0, 0)
    channels = AddedChannelLimitsSerializer(required=False, default=lambda: dict.fromkeys(CHANNEL_TYPES, 0))


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

    uuid = UUIDField(read_only=True, example="3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11")
    name = CharField(max_length=LONGEST_NAME, example="Studio")
    description = description("For growing teams.")
    limits = LimitsSerializer()


class AddonSerializer(AddonReferenceSerializer):
    """An add-on of the agency."""

    uuid = UUIDField(read_only=True, example="b7c1b2de-0a65-4a40-8f0b-5f2a6d0c9e42")
    name = CharField(max_length=LONGEST_NAME, example="Second number")
    description = description("One number more than the plan has.")
    limits = AddedLimitsSerializer()


class ArchivedSerializer(Serializer):
    """Confirmation."""

    archived = BooleanField(example=True)

"""Packs, their entries, the library and copies out of sub-accounts, as an agency's integrations read and write them."""

from collections.abc import Iterable
from typing import Any

from rest_framework.exceptions import ValidationError

from agency.limits import CHANNEL_TYPES
from config.api.fields import BooleanField, ChoiceField, IntegerField, ListField, UUIDField
from config.api.serializers import Serializer
from config.api.text_fields import CharField
from packs.library import Industry
from packs.models import MOST_ENTRIES, Pack, PackEntry
from packs.services.packs import MOST_PACKS
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.subaccounts.models.workspaces import BusinessType

LONGEST_TEMPLATE_ID = 200
MOST_REQUIREMENTS = 100
EXAMPLE_UUIDS = ["3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11", "6f2d9b10-8c3e-4a75-b1d4-0e7a5c9f3b28"]


def choices(values: Iterable[str], example: list[str], max_length: int | None = None) -> ListField:
    return ListField(child=ChoiceField(list(values)), example=example, max_length=max_length)


class PackSlotSerializer(Serializer):
    """A setting that a copy leaves empty for each customer to fill in; `label` and `step` are for people."""

    node = CharField(example="step_2")
    path = CharField(example="template")
    label: Any = CharField(example="Template")  # the field's own name
    step = CharField(example="Step 2: Send a template")


class PackEntrySerializer(Serializer):
    """An automation in a pack."""

    uuid = UUIDField(example=EXAMPLE_UUIDS[1])
    source: Any = ChoiceField(PackEntry.Source.choices)  # the field's own name
    template_id = CharField(allow_null=True, example="salons-booking-assistant")
    name = CharField(example="Book a visit by chat")
    library_name = CharField(allow_null=True, example="Book a visit by chat")
    name_override = CharField(allow_null=True, example=None)
    description = CharField(allow_blank=True, example="Asks people what they would like and books an appointment.")
    description_override = CharField(allow_null=True, example=None)
    tier = ChoiceField(PackEntry.Tier.choices)
    requires = choices(REQUIREMENTS, ["service", "availability"])
    ai = BooleanField()
    catch_all = BooleanField()
    trigger_label = CharField(example="A message with a keyword")
    channels = choices(CHANNEL_TYPES, ["whatsapp", "facebook", "instagram"])
    missing = BooleanField()
    slots = PackSlotSerializer(many=True)


class NewPackEntrySerializer(Serializer):
    """Either `template_id`, or both `workspace` and `automation`."""

    template_id = CharField(max_length=LONGEST_TEMPLATE_ID, required=False, allow_null=True)
    workspace = UUIDField(required=False, allow_null=True)
    automation = UUIDField(required=False, allow_null=True)

    @property
    def is_copy(self) -> bool:
        """Whether the body names a sub-account's automation; it need not be valid for that."""
        return self._named() == {"workspace", "automation"}

    def _named(self) -> set[str]:
        return {name for name, value in self.initial_data.items() if name in self.fields and value is not None}

    def to_internal_value(self, data: object) -> object:
        if not self.is_copy and self._named() != {"template_id"}:
            raise ValidationError({"template_id": ["Send either template_id, or workspace and automation."]})
        return super().to_internal_value(data)


class PackEntryChangesSerializer(Serializer):
    """What is to change; fields left out stay as they are, a blank name or description is the library's again."""

    name = CharField(max_length=120, allow_blank=True, allow_null=True, example="Book a visit")
    description = CharField(
        max_length=500, allow_blank=True, allow_null=True, multiline=True, example="Books a visit in a minute."
    )
    tier = ChoiceField(PackEntry.Tier.choices, example=PackEntry.Tier.OPTIONAL.value)
    requires = choices(REQUIREMENTS, ["service", "availability"], max_length=MOST_REQUIREMENTS)


class PackSerializer(Serializer):
    """Automations that an agency offers together."""

    uuid = UUIDField(read_only=True, example=EXAMPLE_UUIDS[0])
    name = CharField(max_length=120, example="Salon starter")
    summary = CharField(
        max_length=300, required=False, allow_blank=True, allow_null=True, example="Bookings, reminders and reviews."
    )
    industry = ChoiceField(Industry.choices, required=False, allow_null=True, example=Industry.SALONS.value)
    business_type = ChoiceField(
        BusinessType.choices, required=False, allow_null=True, example=BusinessType.SALON_SPA.value
    )
    status = ChoiceField(Pack.Status.choices, read_only=True, example=Pack.Status.PUBLISHED.value)
    installed_in = IntegerField(
        read_only=True, help_text="Workspaces that hold at least one automation from it.", example=12
    )
    entries = PackEntrySerializer(many=True, read_only=True)


class PackChangesSerializer(PackSerializer):
    """What is to change; fields left out stay as they are."""

    status = ChoiceField(Pack.Status.choices, example=Pack.Status.DRAFT.value)


class PackListMetaSerializer(Serializer):
    """What holds for all packs."""

    replace_platform = BooleanField()
    max_entries = IntegerField(example=MOST_ENTRIES)


class OrderSerializer(Serializer):
    """Uuids in their new order, first one first."""

    order = ListField(child=UUIDField(), max_length=MOST_PACKS, distinct=True, example=EXAMPLE_UUIDS)


class PackOrderSerializer(Serializer):
    """The packs' uuids in their new order."""

    data: Any = ListField(child=UUIDField(), example=EXAMPLE_UUIDS)  # the field's own name


class PackDeletedSerializer(Serializer):
    """Confirmation."""

    deleted = BooleanField(example=True)


class PackEntryDeletedSerializer(PackDeletedSerializer):
    """Confirmation, and what became of the pack."""

    pack_status = ChoiceField(Pack.Status.choices)
    unpublished = BooleanField(example=True)


class PackVisibilitySerializer(Serializer):
    """Whether the agency's packs replace the service's own in its customers' galleries."""

    replace_platform = BooleanField(example=True)


class LibraryItemSerializer(Serializer):
    """One of the service's own automations."""

    id = CharField(example="salons-booking-assistant")
    name = CharField(example="Book a visit by chat")
    description = CharField(example="Asks people what they would like and books an appointment.")
    catch_all = BooleanField()
    ai = BooleanField()
    requires = choices(REQUIREMENTS, ["service", "availability"])
    industry = ChoiceField(Industry.choices, example=Industry.SALONS.value)
    industry_label = CharField(example="Salons")
    trigger_label = CharField(example="A message with a keyword")
    channels = choices(CHANNEL_TYPES, ["whatsapp", "facebook", "instagram"])


class SourceAutomationSerializer(Serializer):
    """A published automation of a sub-account."""

    uuid = UUIDField(example="0835a412-0126-41e9-a14e-aee25dcee05e")
    name = CharField(example="Birthday offer")
    platform = ChoiceField(CHANNEL_TYPES)


class ImportSourceSerializer(Serializer):
    """A sub-account with something to copy."""

    uuid = UUIDField(example="8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10")
    name = CharField(example="Corner Salon")
    automations = SourceAutomationSerializer(many=True)


class ImportPreviewSerializer(Serializer):
    """What a copy would be; empty `refusals` means that it can be made."""

    name = CharField(example="Birthday offer")
    platform = ChoiceField(CHANNEL_TYPES)
    refusals = ListField(child=CharField(), example=[])
    catch_all = BooleanField()
    slots = ListField(child=CharField(), source="slot_sentences", example=["Step 2: Send a template (Template)"])

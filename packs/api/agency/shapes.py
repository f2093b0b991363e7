"""Packs as the OpenAPI document describes them."""

from typing import Any

from rest_framework import serializers

from agency.limits import CHANNEL_TYPES
from config.api.schema import many
from packs.library import Industry
from packs.models import Pack, PackEntry
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.subaccounts.models.workspaces import BusinessType

EXAMPLE_ITEM = "salons-booking-assistant"
ENTRY_EXAMPLE = {
    "uuid": "6f2d9b10-8c3e-4a75-b1d4-0e7a5c9f3b28",
    "source": "library",
    "template_id": EXAMPLE_ITEM,
    "name": "Book a visit by chat",
    "library_name": "Book a visit by chat",
    "name_override": None,
    "description": "Answers people who ask for an appointment, asks what they would like and books it.",
    "description_override": None,
    "tier": "core",
    "requires": ["service", "availability"],
    "ai": False,
    "catch_all": False,
    "trigger_label": "A message with a keyword",
    "channels": ["whatsapp", "facebook", "instagram"],
    "missing": False,
    "slots": [],
}
PACK_EXAMPLE = {
    "uuid": "3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11",
    "name": "Salon starter",
    "summary": "Bookings, reminders and birthdays.",
    "industry": "salons",
    "business_type": "salon_spa",
    "status": "published",
    "installed_in": 12,
    "entries": [ENTRY_EXAMPLE],
}


def words(values: Any) -> Any:
    return serializers.ListField(child=serializers.ChoiceField(list(values)))


class SlotShape(serializers.Serializer[Any]):
    """A cleared step that each customer fills in; `label` and `step` are for people."""

    node = serializers.CharField()
    path = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the field's own name in the specification
    step = serializers.CharField()

    class Meta:
        ref_name = "PackSlot"


class PackEntryShape(serializers.Serializer[Any]):
    """An automation in a pack."""

    uuid = serializers.UUIDField()
    source = serializers.ChoiceField(PackEntry.Source.choices)  # type: ignore[assignment]  # as specified
    template_id = serializers.CharField(allow_null=True)
    name = serializers.CharField()
    library_name = serializers.CharField(allow_null=True)
    name_override = serializers.CharField(allow_null=True)
    description = serializers.CharField(allow_blank=True)
    description_override = serializers.CharField(allow_null=True)
    tier = serializers.ChoiceField(PackEntry.Tier.choices)
    requires = words(REQUIREMENTS)
    ai = serializers.BooleanField()
    catch_all = serializers.BooleanField()
    trigger_label = serializers.CharField()
    channels = words(CHANNEL_TYPES)
    missing = serializers.BooleanField()
    slots = SlotShape(many=True)

    class Meta:
        ref_name = "PackEntry"
        example = ENTRY_EXAMPLE


class PackShape(serializers.Serializer[Any]):
    """Automations that an agency offers together."""

    uuid = serializers.UUIDField()
    name = serializers.CharField()
    summary = serializers.CharField(allow_null=True)
    industry = serializers.ChoiceField(Industry.choices, allow_null=True)
    business_type = serializers.ChoiceField(BusinessType.choices, allow_null=True)
    status = serializers.ChoiceField(Pack.Status.choices)
    installed_in = serializers.IntegerField(help_text="Workspaces that hold at least one automation from it.")
    entries = PackEntryShape(many=True)

    class Meta:
        ref_name = "Pack"
        example = PACK_EXAMPLE


class PackListMeta(serializers.Serializer[Any]):
    """What holds for all packs."""

    replace_platform = serializers.BooleanField()
    max_entries = serializers.IntegerField()


class PackListAnswer(many(PackShape)):  # type: ignore[misc]  # the base is made by a function
    """All packs, in the order of the gallery."""

    example = {"data": [PACK_EXAMPLE], "meta": {"replace_platform": False, "max_entries": 9}}
    meta = PackListMeta()


class PackOrderAnswer(serializers.Serializer[Any]):
    """The packs' uuids in their new order."""

    data = serializers.ListField(child=serializers.UUIDField())  # type: ignore[assignment]  # every answer's key

    class Meta:
        example = {"data": [PACK_EXAMPLE["uuid"]]}


class LibraryItemShape(serializers.Serializer[Any]):
    """One of the service's own automations."""

    id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    catch_all = serializers.BooleanField()
    ai = serializers.BooleanField()
    requires = words(REQUIREMENTS)
    industry = serializers.ChoiceField(Industry.choices)
    industry_label = serializers.CharField()
    trigger_label = serializers.CharField()
    channels = words(CHANNEL_TYPES)

    class Meta:
        ref_name = "LibraryItem"
        example = {
            "id": EXAMPLE_ITEM,
            "name": ENTRY_EXAMPLE["name"],
            "description": ENTRY_EXAMPLE["description"],
            "catch_all": False,
            "ai": False,
            "requires": ["service", "availability"],
            "industry": "salons",
            "industry_label": "Salons",
            "trigger_label": ENTRY_EXAMPLE["trigger_label"],
            "channels": ENTRY_EXAMPLE["channels"],
        }


class PackDeleted(serializers.Serializer[Any]):
    """Confirmation."""

    deleted = serializers.BooleanField()

    class Meta:
        example = {"deleted": True}


class EntryDeleted(PackDeleted):
    """Confirmation, and what became of the pack."""

    pack_status = serializers.ChoiceField(Pack.Status.choices)
    unpublished = serializers.BooleanField()

    class Meta:
        ref_name = "PackEntryDeleted"
        example = {"deleted": True, "pack_status": "draft", "unpublished": True}


class SourceAutomationShape(serializers.Serializer[Any]):
    """A published automation of a sub-account."""

    uuid = serializers.UUIDField()
    name = serializers.CharField()
    platform = serializers.ChoiceField(CHANNEL_TYPES)

    class Meta:
        ref_name = "SourceAutomation"


class ImportSourceShape(serializers.Serializer[Any]):
    """A sub-account with something to copy."""

    uuid = serializers.UUIDField()
    name = serializers.CharField()
    automations = SourceAutomationShape(many=True)

    class Meta:
        ref_name = "ImportSource"
        example = {
            "uuid": "8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10",
            "name": "Corner Salon",
            "automations": [
                {"uuid": "0835a412-0126-41e9-a14e-aee25dcee05e", "name": "Birthday offer", "platform": "whatsapp"}
            ],
        }


class ImportPreviewShape(serializers.Serializer[Any]):
    """What a copy would be; empty `refusals` means that it can be made."""

    name = serializers.CharField()
    platform = serializers.ChoiceField(CHANNEL_TYPES)
    refusals = serializers.ListField(child=serializers.CharField())
    catch_all = serializers.BooleanField()
    slots = serializers.ListField(child=serializers.CharField())

    class Meta:
        ref_name = "ImportPreview"
        example = {
            "name": "Birthday offer",
            "platform": "whatsapp",
            "refusals": [],
            "catch_all": False,
            "slots": ["Send a template: template"],
        }


class VisibilityShape(serializers.Serializer[Any]):
    """Whether the agency's packs stand alone in its customers' galleries."""

    replace_platform = serializers.BooleanField()

    class Meta:
        ref_name = "PackVisibility"
        example = {"replace_platform": False}

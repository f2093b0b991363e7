"""What an agency writes about its packs."""

from config.api.fields import BooleanField, CharField, ChoiceField, ListField, UUIDField
from config.api.serializers import Serializer
from packs.library import Industry
from packs.models import Pack, PackEntry
from packs.services.packs import MOST_PACKS
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.subaccounts.models.workspaces import BusinessType

LONGEST_TEMPLATE_ID = 200
MOST_REQUIREMENTS = 100


class NewPack(Serializer):
    name = CharField(max_length=120)
    summary = CharField(max_length=300, required=False, allow_blank=True, allow_null=True)
    industry = ChoiceField(Industry.choices, required=False, allow_null=True)
    business_type = ChoiceField(BusinessType.choices, required=False, allow_null=True)


class PackChanges(NewPack):
    status = ChoiceField(Pack.Status.choices)


class Order(Serializer):
    order = ListField(child=UUIDField(), max_length=MOST_PACKS, distinct=True)


class LibraryChoice(Serializer):
    template_id = CharField(max_length=LONGEST_TEMPLATE_ID)


class CopyChoice(Serializer):
    workspace = UUIDField()
    automation = UUIDField()


class NewEntry(Serializer):
    """Either `template_id`, or `workspace` and `automation`."""

    template_id = CharField(max_length=LONGEST_TEMPLATE_ID, required=False, allow_null=True)
    workspace = UUIDField(required=False, allow_null=True)
    automation = UUIDField(required=False, allow_null=True)


class EntryChanges(Serializer):
    name = CharField(max_length=120, allow_blank=True, allow_null=True)
    description = CharField(max_length=500, allow_blank=True, allow_null=True, multiline=True)
    tier = ChoiceField(PackEntry.Tier.choices)
    requires = ListField(child=ChoiceField(list(REQUIREMENTS)), max_length=MOST_REQUIREMENTS)


class Visibility(Serializer):
    replace_platform = BooleanField()

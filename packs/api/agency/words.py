"""What an agency writes about its packs."""

from config.api.fields import Choice, Flag, Items, Text, Uuid
from config.api.words import Words
from packs.library import Industry
from packs.models import Pack, PackEntry
from packs.services.packs import MOST_PACKS
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.subaccounts.models.workspaces import BusinessType

LONGEST_TEMPLATE_ID = 200
MOST_REQUIREMENTS = 100


class NewPack(Words):
    """A pack to create."""

    name = Text(max_length=120)
    summary = Text(max_length=300, required=False, allow_blank=True, allow_null=True)
    industry = Choice(Industry.choices, required=False, allow_null=True)
    business_type = Choice(BusinessType.choices, required=False, allow_null=True)


class PackChanges(NewPack):
    """What is to change; fields left out stay as they are."""

    status = Choice(Pack.Status.choices)


class Order(Words):
    """Uuids in their new order, first one first."""

    order = Items(child=Uuid(), max_length=MOST_PACKS, distinct=True)


class LibraryChoice(Words):
    template_id = Text(max_length=LONGEST_TEMPLATE_ID)


class CopyChoice(Words):
    workspace = Uuid()
    automation = Uuid()


class NewEntry(Words):
    """Either `template_id`, or both `workspace` and `automation`."""

    template_id = Text(max_length=LONGEST_TEMPLATE_ID, required=False, allow_null=True)
    workspace = Uuid(required=False, allow_null=True)
    automation = Uuid(required=False, allow_null=True)


class EntryChanges(Words):
    """What is to change; fields left out stay as they are, a blank name or description is the library's again."""

    name = Text(max_length=120, allow_blank=True, allow_null=True)
    description = Text(max_length=500, allow_blank=True, allow_null=True, multiline=True)
    tier = Choice(PackEntry.Tier.choices)
    requires = Items(child=Choice(list(REQUIREMENTS)), max_length=MOST_REQUIREMENTS)


class Visibility(Words):
    """Whether your packs replace the service's own."""

    replace_platform = Flag()

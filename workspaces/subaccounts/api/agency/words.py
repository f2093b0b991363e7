"""What an agency writes about a sub-account."""

from config.api.fields import Choice, Email, Text, Uuid, Zone
from config.api.words import Words
from workspaces.subaccounts.models.workspaces import BusinessType

LONGEST_REASON = 500


class OwnerWords(Words):
    """Who will run the sub-account."""

    name = Text(max_length=120)
    email = Email()

    class Meta:
        ref_name = "NewOwner"


class NewWorkspace(Words):
    """A sub-account to create."""

    name = Text(max_length=120)
    owner = OwnerWords()
    plan = Uuid(required=False, allow_null=True, default=None)
    business_type = Choice(BusinessType.choices, required=False, allow_null=True, default=None)
    timezone = Zone(required=False, default="UTC", help_text="IANA name, such as Europe/Berlin.")


class WorkspaceChanges(Words):
    """What is to change; fields left out stay as they are."""

    name = Text(max_length=120)
    business_type = Choice(BusinessType.choices, allow_null=True)
    timezone = Zone(help_text="IANA name, such as Europe/Berlin.")


class Suspension(Words):
    """Why the sub-account is suspended."""

    reason = Text(max_length=LONGEST_REASON, required=False, allow_blank=True, allow_null=True, multiline=True)


class PlanChoice(Words):
    """The uuid of one of your plans."""

    plan = Uuid()


class AddonChoice(Words):
    """The uuid of one of your add-ons."""

    addon = Uuid()

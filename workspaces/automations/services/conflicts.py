"""The rule that no two automations that are on answer the same trigger."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Q

from config.db import violated_constraint
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import CHANNEL_NAMES, Workspace

UNIQUE_TRIGGERS = frozenset({"automation_original_on_once", "automation_catch_all_on_once"})
CONFLICT = "Another automation that is on answers the same already."


@dataclass(frozen=True, slots=True)
class EnabledAutomation:
    """An automation that is on and that may conflict with others."""

    pk: int
    name: str
    from_pack_name: str
    platform: str
    from_original: str
    trigger_digest: str
    catch_all: bool

    def doubles(self, other: Automation) -> bool:
        """Say whether both would answer the same. It is the rule of the two constraints in `UNIQUE_TRIGGERS`."""
        return (
            self.pk != other.pk
            and (self.platform, self.trigger_digest) == (other.platform, other.trigger_digest)
            and ((self.catch_all and other.catch_all) or self.from_original == other.from_original != "")
        )

    @property
    def sentence(self) -> str:
        origin = f" from the pack \u201c{self.from_pack_name}\u201d" if self.from_pack_name else ""
        channel = CHANNEL_NAMES[self.platform]
        return f"\u201c{self.name}\u201d{origin} answers the same on {channel} and is on. Switch that one off first."


COLUMNS = ("pk", "name", "from_pack_name", "platform", "from_original", "trigger_digest", "catch_all")


def enabled_automations(workspace: Workspace) -> list[EnabledAutomation]:
    """Give the automations that are on and that may conflict with others, in one statement."""
    on = Automation.objects.filter(~Q(from_original="") | Q(catch_all=True), workspace=workspace, enabled=True)
    return [EnabledAutomation(*row) for row in on.order_by("pk").values_list(*COLUMNS)]


def find_conflict(automation: Automation, answering: Iterable[EnabledAutomation]) -> EnabledAutomation | None:
    """Find an automation that is on and answers the same as this one; None if this one is on."""
    if automation.enabled or not automation.trigger_digest:
        return None
    return next((one for one in answering if one.doubles(automation)), None)


def save_unless_conflict(automation: Automation, *fields: str) -> bool:
    """Save these fields. Gives False if a constraint says that another automation answers the same."""
    try:
        with transaction.atomic():
            automation.save(update_fields=fields)
    except IntegrityError as error:
        if violated_constraint(error) not in UNIQUE_TRIGGERS:
            raise
        return False
    return True

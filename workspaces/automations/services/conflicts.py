"""The rule that no two automations that are on answer the same trigger, and warnings about triggers that overlap."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from config.db import name_key, violated_constraint
from workspaces.automations.flows.flow import Node, trigger_digest
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
        values = {"name": self.name, "pack": self.from_pack_name, "channel": CHANNEL_NAMES[self.platform]}
        if not self.from_pack_name:
            return (
                _("\u201c%(name)s\u201d answers the same on %(channel)s and is on. Switch that one off first.") % values
            )
        return (
            _(
                "\u201c%(name)s\u201d from the pack \u201c%(pack)s\u201d answers the same on %(channel)s and is on. "
                "Switch that one off first."
            )
            % values
        )


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


# Of several automations with such a trigger, one answers a message or comment. A catch-all may be on only once.
EXCLUSIVE_TRIGGERS: Final = ("keyword", "comment_keyword", "first_message", "story_reply", "story_mention", "ad_click")
# The closest match first. Of two automations that both fit, the closer answers, and of equals the older.
MATCHES: Final = ("exact", "starts_with", "contains")
MOST_COMPARED: Final = 500
MOST_TOLD: Final = 3
MOST_KEYWORDS_TOLD: Final = 5


def overlap_warnings(automation: Automation) -> list[str]:
    """Say which automations that are on have the same trigger or share keywords with this one, and which answers.

    At most one statement. Automations that may not be on together are left out: `find_conflict` names those.
    """
    flow = automation.published.flow if automation.published else automation.draft
    mine: Node = flow["trigger"]
    if mine["type"] not in EXCLUSIVE_TRIGGERS:
        return []
    own, sentences = _keywords(mine), []
    for pk, name, trigger in _others_on(automation, mine["type"]):
        shared = [own[key] for key in _keywords(trigger) if key in own]
        if _may_meet(mine, trigger) if shared else not own and trigger_digest(trigger) == trigger_digest(mine):
            is_behind = (_match_rank(trigger), pk) < (_match_rank(mine), automation.pk)
            sentences.append(_overlap(name, shared, is_behind=is_behind))
    return sentences[:MOST_TOLD]


def _others_on(automation: Automation, trigger: str) -> list[tuple[int, str, Node]]:
    """Give the key, name and published trigger of the workspace's other automations that are on with this trigger."""
    on = Automation.objects.filter(workspace_id=automation.workspace_id, platform=automation.platform, enabled=True)
    found = on.filter(trigger=trigger).exclude(pk=automation.pk).order_by("pk")
    with_triggers = found.annotate(starts_with=F("published__flow__trigger"))
    return list(with_triggers.values_list("pk", "name", "starts_with")[:MOST_COMPARED])


def _keywords(trigger: Node) -> dict[str, str]:
    """Give the trigger's keywords by the form in which they are compared."""
    given = _config(trigger).get("keywords")
    words = [word for word in given if isinstance(word, str)] if isinstance(given, list) else []
    return {name_key(word): word for word in (" ".join(word.split()) for word in words)}


def _config(trigger: Node) -> Mapping[str, object]:
    config = trigger.get("config")
    return config if isinstance(config, dict) else {}


def _may_meet(one: Node, other: Node) -> bool:
    """Say whether one comment may fit both: triggers of two different posts never meet."""
    return len({_config(trigger).get("post") for trigger in (one, other)} - {None, ""}) < 2


def _match_rank(trigger: Node) -> int:
    match = _config(trigger).get("match")
    return MATCHES.index(match) if match in MATCHES else len(MATCHES) - 1


def _overlap(name: str, shared: Sequence[str], *, is_behind: bool) -> str:
    values = {"name": name, "keywords": ", ".join(shared[:MOST_KEYWORDS_TOLD])}
    if shared:
        told = _("\u201c%(name)s\u201d is on and has keywords of this automation too: %(keywords)s.") % values
    else:
        told = _("\u201c%(name)s\u201d is on and starts with the same.") % values
    answers = (
        _("Where both fit, \u201c%(name)s\u201d answers.")
        if is_behind
        else _("Where both fit, this automation answers.")
    )
    return f"{told} {answers % values}"

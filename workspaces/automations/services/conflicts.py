"""The rule that no two automations that are on answer the same trigger, and warnings about shared keywords."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from config.db import name_key, violated_constraint
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import CHANNEL_NAMES, Workspace

# Of several automations with such a trigger, one answers a message or comment.
EXCLUSIVE_TRIGGERS: Final = frozenset(
    {
        "any_message",
        "any_comment",
        "keyword",
        "comment_keyword",
        "first_message",
        "story_reply",
        "story_mention",
        "ad_click",
    }
)
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
    trigger: str
    trigger_digest: str

    def doubles(self, other: Automation) -> bool:
        """Say whether both have the same trigger, and only one would answer or both come from one original.

        The constraints in `UNIQUE_TRIGGERS` hold a part of this rule: of catch-alls, and of one original.
        """
        return (
            self.pk != other.pk
            and (self.platform, self.trigger_digest) == (other.platform, other.trigger_digest)
            and (self.trigger in EXCLUSIVE_TRIGGERS or self.from_original == other.from_original != "")
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


COLUMNS = ("pk", "name", "from_pack_name", "platform", "from_original", "trigger", "trigger_digest")


def enabled_automations(workspace: Workspace) -> list[EnabledAutomation]:
    """Give the automations that are on and that may conflict with others, in one statement."""
    may_conflict = Q(trigger__in=EXCLUSIVE_TRIGGERS) | ~Q(from_original="")
    on = Automation.objects.filter(may_conflict, workspace=workspace, enabled=True)
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


# The closest match first. Of two automations that both fit, the closer answers, and of equals the older.
MATCHES: Final = ("exact", "starts_with", "contains")
MOST_COMPARED: Final = 500
MOST_TOLD: Final = 3
MOST_KEYWORDS_TOLD: Final = 5


def keyword_warnings(automation: Automation) -> list[str]:
    """Say which keywords automations that are on share with this one, and which of them answers. At most one statement.

    Automations with the very same trigger are left out: `find_conflict` refuses those.
    """
    mine = _running_trigger(automation)
    own = _keywords(mine)
    if not own:
        return []
    sentences = []
    for pk, name, trigger in _others_with_keywords(automation, mine["type"]):
        shared = [own[key] for key in _keywords(trigger) if key in own]
        if shared and _may_meet(mine, trigger):
            is_behind = (_match_rank(trigger), pk) < (_match_rank(mine), automation.pk)
            sentences.append(_overlap(name, shared, is_behind=is_behind))
    return sentences[:MOST_TOLD]


def _running_trigger(automation: Automation) -> Mapping[str, Any]:
    flow = automation.published.flow if automation.published else automation.draft
    trigger: Mapping[str, Any] = flow["trigger"]
    return trigger


def _others_with_keywords(automation: Automation, trigger: str) -> list[tuple[int, str, Mapping[str, Any]]]:
    on = Automation.objects.filter(workspace_id=automation.workspace_id, platform=automation.platform, enabled=True)
    others = on.filter(trigger=trigger).exclude(pk=automation.pk).exclude(trigger_digest=automation.trigger_digest)
    found = others.order_by("pk").annotate(starts_with=F("published__flow__trigger"))
    return list(found.values_list("pk", "name", "starts_with")[:MOST_COMPARED])


def _keywords(trigger: Mapping[str, Any]) -> dict[str, str]:
    """Give the trigger's keywords by the form in which they are compared; without any an empty object."""
    config = trigger.get("config")
    given = config.get("keywords") if isinstance(config, dict) else None
    words = [word for word in given if isinstance(word, str)] if isinstance(given, list) else []
    return {" ".join(name_key(word).split()): word for word in words}


def _may_meet(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether one comment may fit both: triggers of two different posts never meet."""
    posts = {trigger["config"].get("post") for trigger in (one, other)} - {None, ""}
    return len(posts) < 2


def _match_rank(trigger: Mapping[str, Any]) -> int:
    match = trigger["config"].get("match")
    return MATCHES.index(match) if match in MATCHES else len(MATCHES) - 1


def _overlap(name: str, shared: list[str], *, is_behind: bool) -> str:
    values = {"name": name, "keywords": ", ".join(shared[:MOST_KEYWORDS_TOLD])}
    if is_behind:
        return (
            _(
                "\u201c%(name)s\u201d is on and has keywords of this automation too: %(keywords)s. What fits both is "
                "answered by \u201c%(name)s\u201d."
            )
            % values
        )
    return (
        _(
            "\u201c%(name)s\u201d is on and has keywords of this automation too: %(keywords)s. What fits both is "
            "answered by this automation."
        )
        % values
    )

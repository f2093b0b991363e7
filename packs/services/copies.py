"""Copies automations out of sub-accounts into packs: lists sources, previews a copy and makes it.

A copy is made of the published version, and the registry of steps decides what it keeps. Views check before that the
caller may copy.
"""

from dataclasses import dataclass, replace
from uuid import UUID

from agency.actors import Actor
from agency.models import Agency
from packs.models import Pack, PackEntry
from packs.services.entries import add_entry, replace_copied_flow
from packs.services.errors import CopyRefused
from workspaces.automations.flows.copies import Slot, can_be_sanitized, reasons_not_copyable, sanitized_copy
from workspaces.automations.flows.flow import (
    Flow,
    digest_of,
    has_ai,
    is_catch_all,
    requires_of,
    step_type,
    steps_of,
    trigger_label,
)
from workspaces.automations.flows.merging import matching_step_ids, with_step_ids
from workspaces.automations.flows.privacy import private_content
from workspaces.automations.models import Automation
from workspaces.automations.services import AutomationNotFound
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import WorkspaceNotFound

NOT_PUBLISHED = "This automation is not published. Publish it before copying it."
LONGEST_DESCRIPTION = 500


@dataclass(frozen=True, slots=True)
class SourceAutomation:
    """A published automation of a sub-account."""

    uuid: UUID
    name: str
    platform: str


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A sub-account with at least one published automation."""

    uuid: UUID
    name: str
    automations: list[SourceAutomation]


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview of a copy. It can be made if `refusals` is empty."""

    name: str
    platform: str
    refusals: list[str]
    catch_all: bool
    slots: list[Slot]

    @property
    def slot_sentences(self) -> list[str]:
        return [slot.sentence for slot in self.slots]


def list_import_sources(*, agency: Agency) -> list[ImportSource]:
    """List the sub-accounts with published automations, ordered by name, in one statement."""
    rows = (
        Automation.objects.of_agency(agency)
        .published()
        .order_by("workspace__name_key", "workspace_id", "name", "id")
        .values_list("workspace__uuid", "workspace__name", "uuid", "name", "platform")
    )
    sources: dict[UUID, ImportSource] = {}
    for workspace, workspace_name, uuid, name, platform in rows:
        source = sources.setdefault(workspace, ImportSource(workspace, workspace_name, []))
        source.automations.append(SourceAutomation(uuid, name, platform))
    return list(sources.values())


def find_source_automation(*, agency: Agency, workspace: UUID | None, automation: UUID | None) -> Automation:
    """Find an automation of a sub-account. Raises `WorkspaceNotFound`, `AutomationNotFound`."""
    of = Workspace.objects.of(agency).filter(uuid=workspace).first() if workspace else None
    if of is None:
        raise WorkspaceNotFound
    found = of.automations.select_related("published").filter(uuid=automation).first() if automation else None
    if found is None:
        raise AutomationNotFound
    return found


def preview_copy(*, automation: Automation) -> Preview:
    """Preview a copy, even if it would be refused, and save nothing. An unpublished automation shows its draft."""
    flow, refusals = published_flow(automation)
    shown = automation.draft if flow is None else flow
    kept, slots = sanitized_copy(shown) if can_be_sanitized(shown) else (None, [])
    return Preview(
        name=automation.name if kept is None else copy_name(automation, kept),
        platform=automation.platform,
        refusals=refusals,
        catch_all=is_catch_all(shown),
        slots=slots,
    )


def published_flow(automation: Automation) -> tuple[Flow | None, list[str]]:
    """Return the flow to copy, or None, and the reasons why it cannot be copied."""
    if automation.published is None:
        return None, [NOT_PUBLISHED]
    flow: Flow = automation.published.flow
    return flow, reasons_not_copyable(flow, platform=automation.platform)


def copy_automation(*, pack: Pack, automation: Automation, by: Actor) -> PackEntry:
    """Add a cleaned copy of an automation's published version. Raises `CopyRefused`, `EntryRefused` on `automation`."""
    return add_entry(pack=pack, entry=copied_entry(automation), field="automation", by=by)


def copy_anew(*, entry: PackEntry, automation: Automation, by: Actor) -> PackEntry:
    """Replace a copy in a pack by one of an automation's published version, which may be another automation.

    Raises `NotACopy`, `CopyRefused`, and `EntryRefused` on `automation`.
    """
    return replace_copied_flow(entry=entry, copied=copied_entry(automation, entry), by=by)


def copied_entry(automation: Automation, replaced: PackEntry | None = None) -> PackEntry:
    """Make an unsaved entry. Steps that the replaced copy has keep their ids, so that versions can be compared."""
    flow, refusals = published_flow(automation)
    if flow is None or refusals:
        raise CopyRefused(refusals)
    kept, slots = sanitized_copy(flow)
    if replaced and replaced.flow:
        ids = matching_step_ids(replaced.flow, kept)
        kept, slots = with_step_ids(kept, ids), [replace(slot, node=ids.get(slot.node, slot.node)) for slot in slots]
    return PackEntry(
        source=PackEntry.Source.CUSTOM,
        name=copy_name(automation, kept),
        description=describe_flow(kept),
        requires=requires_of(kept),
        ai=has_ai(kept),
        catch_all=is_catch_all(kept),
        trigger_label=trigger_label(kept),
        channels=[automation.platform],
        flow=kept,
        flow_digest=digest_of(kept),
        slots=[slot.plain() for slot in slots],
    )


def copy_name(automation: Automation, flow: Flow) -> str:
    """Return the automation's name, or the trigger's if the name contains private content."""
    return automation.name if private_content(automation.name) is None else trigger_label(flow)


def describe_flow(flow: Flow) -> str:
    """Describe a copied flow in a generated text, because the workspace's description may be private."""
    labels = list(dict.fromkeys(step_type(step).label.lower() for step in steps_of(flow)))
    text = f"Starts with: {trigger_label(flow).lower()}. Then: {', '.join(labels)}."
    return text if len(text) <= LONGEST_DESCRIPTION else f"{text[: LONGEST_DESCRIPTION - 1]}…"

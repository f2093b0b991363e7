"""The gallery of a workspace: its offered packs, with the state of each automation in the workspace."""

from dataclasses import dataclass
from uuid import UUID

from packs.services.installs import connected_platforms
from packs.services.offered_packs import OfferedEntry, OfferedPack, offered_packs
from workspaces.automations.models import Automation
from workspaces.automations.services import met_requirements
from workspaces.subaccounts.models import Workspace


@dataclass(frozen=True, slots=True)
class GalleryEntry:
    """An offered automation and its state in the workspace. `missing` names the requirements that are not met."""

    offered: OfferedEntry
    fits: bool
    missing: list[str]
    installed: Automation | None


@dataclass(frozen=True, slots=True)
class GalleryPack:
    """A pack of the gallery. `can_add` tells whether an install, also a repeated one, would add an automation."""

    offered: OfferedPack
    entries: list[GalleryEntry]

    @property
    def is_installed(self) -> bool:
        return any(entry.installed for entry in self.entries)

    @property
    def can_add(self) -> bool:
        return any(entry.fits and not entry.installed for entry in self.entries)


def gallery_of(*, workspace: Workspace) -> list[GalleryPack]:
    """Return a workspace's gallery in order, without empty packs."""
    platforms = set(connected_platforms(workspace))
    met = met_requirements(workspace)
    installed = _installed(workspace)
    return [
        GalleryPack(pack, [_entry(entry, platforms, met, installed) for entry in pack.entries])
        for pack in offered_packs(workspace)
        if pack.entries
    ]


def _installed(workspace: Workspace) -> dict[UUID, Automation]:
    automations = Automation.objects.filter(workspace=workspace, from_entry__isnull=False).defer("draft")
    return {automation.from_entry: automation for automation in automations if automation.from_entry}


def _entry(entry: OfferedEntry, platforms: set[str], met: set[str], installed: dict[UUID, Automation]) -> GalleryEntry:
    return GalleryEntry(
        offered=entry,
        fits=not platforms.isdisjoint(entry.channels),
        missing=[name for name in entry.requires if name not in met],
        installed=installed.get(entry.uuid),
    )

"""Installs packs into workspaces, and shows the packs that a workspace is offered with what it has installed."""

from collections.abc import Collection, Container
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction

from agency.actors import Actor
from agency.services import record_activity
from packs.library import library
from packs.models import StarterPack
from packs.services.errors import PackNotFound
from packs.services.new_versions import record_installed_flow
from packs.services.offered_packs import (
    OfferedEntry,
    OfferedPack,
    flows_of,
    offered_agency_pack,
    offered_packs,
    offered_platform_pack,
    published_packs,
)
from packs.services.queries import has_replace_setting
from workspaces.automations.flows.flow import Flow, digest_of
from workspaces.automations.models import Automation
from workspaces.automations.services import MetRequirements, Origin, install_automation
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.models.workspaces import BusinessType
from workspaces.subaccounts.services import lock_workspace


@dataclass(frozen=True, slots=True)
class Installation:
    """The result of an install. `unfitting` lists the entries without a connected channel of a fitting type."""

    added: list[Automation] = field(default_factory=list)
    unfitting: list[OfferedEntry] = field(default_factory=list)


@transaction.atomic
def install_pack(
    *, workspace: Workspace, pack: UUID, now: datetime, by: Actor, entries: Collection[UUID] | None = None
) -> Installation:
    """Add the pack's automations that the workspace lacks, switched off. Nothing else changes.

    `entries` limits the install to some of the pack's automations. Raises `PackNotFound` for a pack that is not in the
    gallery.
    """
    workspace = lock_workspace(workspace)
    offered = next((one for one in offered_packs(workspace) if one.uuid == pack), None)
    if offered is None:
        raise PackNotFound
    return _install(workspace, offered, now=now, by=by, entries=entries)


def give_starter_pack(*, workspace: Workspace, now: datetime, by: Actor) -> None:
    """Install the pack of the business type for a new customer, once, when they connect their first channel.

    The caller's transaction connects the channel and holds the workspace's lock.
    """
    if StarterPack.objects.filter(workspace=workspace).exists():
        return
    pack = starter_pack_for(workspace)
    StarterPack.objects.create(workspace=workspace, pack=pack.uuid if pack else None, given_at=now)
    if pack:
        _install(workspace, pack, now=now, by=by, entries=None)


def starter_pack_for(workspace: Workspace) -> OfferedPack | None:
    """Choose the starter pack of a new customer. Without a business type the customer counts as `other`.

    It is the agency's highest published pack for the type. Without one, it is the service's own pack for the type. If
    the agency's packs replace the service's own, it is the agency's `other` pack, or none.
    """
    wanted = workspace.business_type or BusinessType.OTHER
    published = published_packs(workspace.agency_id)
    only_own = bool(published) and has_replace_setting(workspace.agency_id)
    for kind in (wanted, BusinessType.OTHER) if only_own else (wanted,):
        own = next((pack for pack in published if pack.business_type == kind), None)
        if own:
            return offered_agency_pack(own)
    platform = None if only_own else library().pack_for(wanted)
    return offered_platform_pack(platform) if platform else None


def _install(
    workspace: Workspace, pack: OfferedPack, *, now: datetime, by: Actor, entries: Collection[UUID] | None
) -> Installation:
    platforms = connected_platforms(workspace)
    held = set(workspace.automations.filter(from_pack=pack.uuid).values_list("from_entry", flat=True))
    flows = flows_of(pack)
    done = Installation()
    for entry in pack.entries:
        # A copy without a flow has just been removed from the pack.
        if entry.uuid in held or entry.uuid not in flows or (entries is not None and entry.uuid not in entries):
            continue
        flow = flows[entry.uuid]
        platform = next((kind for kind in platforms if kind in entry.channels), None)
        if platform is None:
            done.unfitting.append(entry)
            continue
        added = install_automation(
            workspace=workspace,
            origin=Origin(pack=pack.uuid, entry=entry.uuid, pack_name=pack.name, original=original_id(entry, flow)),
            name=entry.name,
            platform=platform,
            flow=flow,
            slots=entry.slots,
            requires=entry.requires,
            now=now,
            by=by,
        )
        if added:
            record_installed_flow(added, entry, flow, now)
            done.added.append(added)
    if done.added:
        record_install(workspace, pack, done.added, by)
    return done


def original_id(entry: OfferedEntry, flow: Flow) -> str:
    """Return an id of the original automation: the library's id, or a digest for a copy that several packs may hold."""
    return entry.template_id or f"copy:{digest_of(flow)}"


def record_install(workspace: Workspace, pack: OfferedPack, added: list[Automation], by: Actor) -> None:
    """Record an install as one activity entry. The service's own packs have another target, as they have no page."""
    record_activity(
        by=by,
        action="pack.installed",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("platform_pack" if pack.is_platform else "pack", pack.uuid, pack.name),
        details={"sub-account": workspace.name, "automations": [automation.name for automation in added]},
    )


def connected_platforms(workspace: Workspace) -> list[str]:
    """Return the types of the workspace's connected channels, the earliest connected first."""
    channels = workspace.channels.exclude(status=Channel.Status.DISCONNECTED).order_by("connected_at", "id")
    return list(dict.fromkeys(channels.values_list("platform", flat=True)))


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
    met = MetRequirements(workspace)
    installed = _installed(workspace)
    return [
        GalleryPack(pack, [_entry(entry, platforms, met, installed) for entry in pack.entries])
        for pack in offered_packs(workspace)
        if pack.entries
    ]


def _installed(workspace: Workspace) -> dict[UUID, Automation]:
    automations = Automation.objects.filter(workspace=workspace, from_entry__isnull=False).defer("draft")
    return {automation.from_entry: automation for automation in automations if automation.from_entry}


def _entry(
    entry: OfferedEntry, platforms: set[str], met: Container[str], installed: dict[UUID, Automation]
) -> GalleryEntry:
    return GalleryEntry(
        offered=entry,
        fits=not platforms.isdisjoint(entry.channels),
        missing=[name for name in entry.requires if name not in met],
        installed=installed.get(entry.uuid),
    )

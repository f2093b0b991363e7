"""Installing packs into a workspace, and the one that a new customer is given."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction

from agency.actors import Actor
from agency.services import record_activity
from packs.library import library
from packs.models import StarterPack
from packs.services.errors import PackNotFound
from packs.services.offered_packs import (
    OfferedEntry,
    OfferedPack,
    flows_of,
    offered_agency_pack,
    offered_packs,
    offered_platform_pack,
    published_packs,
)
from packs.services.visibility import replaces_platform
from workspaces.automations.flows.flow import Flow, digest_of
from workspaces.automations.models import Automation
from workspaces.automations.services import Origin, install_automation
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.models.workspaces import BusinessType
from workspaces.subaccounts.services import lock_workspace


@dataclass(frozen=True, slots=True)
class Installation:
    """What an install added, and what it left out because no channel of a fitting type is there."""

    added: list[Automation] = field(default_factory=list)
    unfitting: list[OfferedEntry] = field(default_factory=list)


@transaction.atomic
def install_pack(
    *, workspace: Workspace, pack: UUID, now: datetime, by: Actor, entries: Collection[UUID] | None = None
) -> Installation:
    """Add what the workspace does not have of a pack, switched off; nothing else changes.

    `entries` picks some of the pack's automations. Raises `PackNotFound` for a pack that is not in the gallery.
    """
    workspace = lock_workspace(workspace)
    offered = next((one for one in offered_packs(workspace) if one.uuid == pack), None)
    if offered is None:
        raise PackNotFound
    return _install(workspace, offered, now=now, by=by, entries=entries)


def give_starter_pack(*, workspace: Workspace, now: datetime, by: Actor) -> None:
    """Give a new customer the pack of their business type: once, in the transaction of their first channel.

    The caller is inside that transaction and holds the workspace's lock.
    """
    if StarterPack.objects.filter(workspace=workspace).exists():
        return
    pack = starter_pack_for(workspace)
    StarterPack.objects.create(workspace=workspace, pack=pack.uuid if pack else None, given_at=now)
    if pack:
        _install(workspace, pack, now=now, by=by, entries=None)


def starter_pack_for(workspace: Workspace) -> OfferedPack | None:
    """Choose what a new customer is given; one who named no business type counts as `other`.

    The highest of the agency's published packs for the type; without one, where the service's own are replaced, the
    agency's `other` pack or nothing, else the service's own for the type.
    """
    wanted = workspace.business_type or BusinessType.OTHER
    published = published_packs(workspace.agency_id)
    only_own = bool(published) and replaces_platform(workspace.agency_id)
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
        # A copy without a flow was taken out of the pack a moment ago.
        if entry.uuid in held or entry.uuid not in flows or (entries is not None and entry.uuid not in entries):
            continue
        flow = flows[entry.uuid]
        platform = next((kind for kind in platforms if kind in entry.channels), None)
        if platform is None:
            done.unfitting.append(entry)
            continue
        added = install_automation(
            workspace=workspace,
            origin=Origin(pack=pack.uuid, entry=entry.uuid, pack_name=pack.name, original=original_of(entry, flow)),
            name=entry.name,
            platform=platform,
            flow=flow,
            slots=entry.slots,
            requires=entry.requires,
            now=now,
            by=by,
        )
        done.added.extend([added] if added else [])
    if done.added:
        record_install(workspace, pack, done.added, by)
    return done


def original_of(entry: OfferedEntry, flow: Flow) -> str:
    """Name what an entry is one of: a library automation, else the copy, which may stand in several packs."""
    return entry.template_id or f"copy:{digest_of(flow)}"


def record_install(workspace: Workspace, pack: OfferedPack, added: list[Automation], by: Actor) -> None:
    """Add one entry for everything that an install added; the service's own packs have no page in the console."""
    record_activity(
        by=by,
        action="pack.installed",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("platform_pack" if pack.is_platform else "pack", pack.uuid, pack.name),
        details={"sub-account": workspace.name, "automations": [automation.name for automation in added]},
    )


def connected_platforms(workspace: Workspace) -> list[str]:
    """Give the channel types that the workspace has a channel of, the one connected first leading."""
    channels = workspace.channels.exclude(status=Channel.Status.DISCONNECTED).order_by("connected_at", "id")
    return list(dict.fromkeys(channels.values_list("platform", flat=True)))

"""Newer versions of installed automations: finds them, takes them over into the draft, and declines them.

A version is the flow of a pack's entry. It changes when the agency copies the automation anew, or with the library.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Count

from agency.actors import Actor
from packs.library import library
from packs.models import InstalledFlow, Pack, PackEntry
from packs.services.errors import NewVersionChanged, NoNewVersion
from packs.services.offered_packs import OfferedEntry, offered_agency_entry, offered_platform_entry
from workspaces.automations.flows.flow import Flow
from workspaces.automations.flows.merging import MergedFlow, merge_new_version
from workspaces.automations.models import Automation
from workspaces.automations.services.drafts import lock_automation, record_automation_activity
from workspaces.automations.services.editing import replace_draft_as_seen


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version that is newer than the one that an automation comes from. `merged` is what its draft would become."""

    offered: OfferedEntry
    flow: Flow
    merged: MergedFlow

    @property
    def digest(self) -> str:
        return self.offered.flow_digest


def record_installed_flow(automation: Automation, offered: OfferedEntry, flow: Flow, now: datetime) -> None:
    """Remember the version of a new automation, in the transaction of its install."""
    InstalledFlow.objects.create(automation=automation, flow=flow, digest=offered.flow_digest, taken_at=now)


def with_new_version(automations: Collection[Automation]) -> dict[int, OfferedEntry]:
    """Give the automations that have a newer version which is not declined, by their keys. Two statements at most.

    The automations must have their workspace. Only published packs offer new versions.
    """
    asked = {one.pk: one for one in automations if one.from_entry}
    if not asked:
        return {}
    rows = InstalledFlow.objects.filter(automation__in=asked)
    known = {pk: (digest, declined) for pk, digest, declined in rows.values_list("pk", "digest", "declined_digest")}
    entries = _offered_entries([asked[pk] for pk in known])
    return {
        pk: entry
        for pk, digests in known.items()
        if (entry := entries.get(asked[pk].from_entry))
        and entry.flow_digest not in digests
        and asked[pk].platform in entry.channels
    }


def _offered_entries(automations: Sequence[Automation]) -> dict[UUID | None, OfferedEntry]:
    wanted = {one.from_entry for one in automations if one.from_entry}
    platform = {entry.uuid: entry for pack in library().packs for entry in pack.entries}
    found: dict[UUID | None, OfferedEntry] = {
        uuid: offered_platform_entry(platform[uuid]) for uuid in wanted & platform.keys()
    }
    own = wanted - platform.keys()
    if own:
        agencies = {one.workspace.agency_id for one in automations}
        rows = PackEntry.objects.filter(uuid__in=own, pack__agency__in=agencies, pack__status=Pack.Status.PUBLISHED)
        for row in rows.defer("flow"):
            if offered := offered_agency_entry(row):
                found[row.uuid] = offered
    return found


def find_new_version(automation: Automation) -> NewVersion:
    """Find the newer version of one automation, with the flow that the draft would become. Raises `NoNewVersion`."""
    offered = with_new_version([automation]).get(automation.pk)
    flow = (offered.flow or _flow_of_copy(offered)) if offered else None
    if offered is None or flow is None:
        raise NoNewVersion
    base = InstalledFlow.objects.values_list("flow", flat=True).get(pk=automation.pk)
    return NewVersion(offered, flow, merge_new_version(base, automation.draft, flow, offered.slots))


def _flow_of_copy(offered: OfferedEntry) -> Flow | None:
    """Give a copy's flow, or None if it was replaced or removed since it was found."""
    row = PackEntry.objects.filter(uuid=offered.uuid, flow_digest=offered.flow_digest)
    flow: Flow | None = row.values_list("flow", flat=True).first()
    return flow


@transaction.atomic
def take_new_version(*, automation: Automation, seen: str, version: str, now: datetime, by: Actor) -> Automation:
    """Merge the newer version into the draft. What is published goes on running until somebody publishes the draft.

    `seen` is the mark of the draft and `version` the digest of the new version that the person looked at. Raises
    `NoNewVersion`, `NewVersionChanged`, `DraftChanged`.
    """
    automation = lock_automation(automation)
    found = _find_seen(automation, version)
    automation = replace_draft_as_seen(
        automation=automation,
        seen=seen,
        flow=found.merged.flow,
        slots=found.offered.slots,
        requires=found.offered.requires,
        action="automation.new_version_taken",
        now=now,
        by=by,
    )
    InstalledFlow.objects.filter(pk=automation.pk).update(
        flow=found.flow, digest=found.digest, declined_digest="", taken_at=now
    )
    return automation


@transaction.atomic
def decline_new_version(*, automation: Automation, version: str, by: Actor) -> None:
    """Stop offering this version. Raises `NoNewVersion`, `NewVersionChanged`."""
    automation = lock_automation(automation)
    found = _find_seen(automation, version)
    InstalledFlow.objects.filter(pk=automation.pk).update(declined_digest=found.digest)
    record_automation_activity(automation, "automation.new_version_declined", by)


def _find_seen(automation: Automation, version: str) -> NewVersion:
    found = find_new_version(automation)
    if found.digest != version:
        raise NewVersionChanged
    return found


def installs_behind(pack: Pack, digests: dict[UUID, str]) -> dict[UUID, int]:
    """Count the installs of a pack by entry whose version is not the entry's own, in one statement."""
    rows = InstalledFlow.objects.filter(automation__from_pack=pack.uuid, automation__workspace__agency=pack.agency_id)
    counted = rows.order_by().values_list("automation__from_entry", "digest").annotate(Count("pk"))
    behind: dict[UUID, int] = {}
    for entry, digest, number in counted:
        if entry in digests and digest != digests[entry]:
            behind[entry] = behind.get(entry, 0) + number
    return behind

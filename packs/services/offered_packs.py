"""The packs that customers are offered: the agency's and the service's own, in one form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext

from packs.library import PlatformEntry, PlatformPack, library
from packs.models import Pack, PackEntry
from packs.services.queries import PackView, has_replace_setting, read_entry_view, with_entries
from workspaces.automations.flows.availability import reasons_unavailable
from workspaces.automations.flows.flow import Flow, with_chosen_templates
from workspaces.subaccounts.models import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedEntry:
    """An automation that a customer can install. `flow` is the library's; for a copy it is None, see `flows_of`.

    `flow_digest` tells its versions apart.
    """

    uuid: UUID
    template_id: str | None
    name: str
    description: str
    tier: str
    requires: list[str]
    ai: bool
    catch_all: bool
    trigger_label: str
    channels: list[str]
    slots: list[dict[str, str]]
    flow: Flow | None
    flow_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedPack:
    """A pack in a customer's gallery, without retired automations."""

    uuid: UUID
    name: str
    summary: str
    industry: str | None
    business_type: str | None
    is_platform: bool
    entries: list[OfferedEntry]

    @property
    def shown_name(self) -> str:
        """The name in the reader's language; an agency's own pack has the name that the agency gave it."""
        return gettext(self.name) if self.is_platform else self.name

    @property
    def shown_summary(self) -> str:
        return gettext(self.summary) if self.is_platform and self.summary else self.summary


def offered_packs(workspace: Workspace) -> list[OfferedPack]:
    """Return the agency's published packs in order, then the service's own unless they are replaced."""
    agency = workspace.agency_id
    own = [offered_agency_pack(pack) for pack in published_packs(agency)]
    if own and has_replace_setting(agency):
        return own
    return [*own, *(offered_platform_pack(pack) for pack in library().packs)]


def published_packs(agency_id: int) -> list[Pack]:
    return list(Pack.objects.of(agency_id).published().in_gallery_order().prefetch_related(with_entries()))


def offered_agency_pack(pack: Pack) -> OfferedPack:
    return OfferedPack(
        uuid=pack.uuid,
        name=pack.name,
        summary=pack.summary or "",
        industry=pack.industry,
        business_type=pack.business_type,
        is_platform=False,
        entries=[offered for entry in pack.entries.all() if (offered := offered_agency_entry(entry))],
    )


def offered_agency_entry(entry: PackEntry) -> OfferedEntry | None:
    """Return an entry as customers are offered it, without its flow if it is a copy; None if it is retired."""
    view = read_entry_view(entry)
    if view.missing:
        return None
    item = library().items.get(view.template_id or "")
    return OfferedEntry(
        uuid=view.uuid,
        template_id=view.template_id,
        name=view.name,
        description=view.description,
        tier=view.tier,
        requires=view.requires,
        ai=view.ai,
        catch_all=view.catch_all,
        trigger_label=view.trigger_label,
        channels=view.channels,
        slots=view.slots,
        flow=item.flow if item else None,
        flow_digest=item.flow_digest if item else entry.flow_digest,
    )


def flows_of(*packs: OfferedPack) -> dict[UUID, Flow]:
    """Return the packs' flows by entry. One statement reads those of copies; a removed copy has none."""
    return _with_copies({entry.uuid: entry.flow for pack in packs for entry in pack.entries})


def flows_of_view(pack: PackView) -> dict[UUID, Flow]:
    """Return the flows of an agency's own pack by entry, without retired automations, as `flows_of` does."""
    items = library().items
    entries = [entry for entry in pack.entries if not entry.missing]
    return _with_copies({one.uuid: items[one.template_id].flow if one.template_id else None for one in entries})


def _with_copies(known: Mapping[UUID, Flow | None]) -> dict[UUID, Flow]:
    """Add the flows of copies, which are None in `known`."""
    copies = [uuid for uuid, flow in known.items() if flow is None]
    found = PackEntry.objects.filter(uuid__in=copies).values_list("uuid", "flow") if copies else ()
    return {uuid: flow for uuid, flow in [*known.items(), *found] if flow is not None}


def reasons_entry_cannot_run(flow: Flow, channels: Sequence[str], slots: Sequence[dict[str, str]] = ()) -> list[str]:
    """Return the reasons, in sentences, why the product cannot run a flow on any of these channel types.

    They are those of the channel type with the fewest. Customers fill in the `slots`.
    """
    filled = with_chosen_templates(flow, slots)
    return min((reasons_unavailable(filled, platform) for platform in channels), key=len, default=[])


def offered_platform_pack(pack: PlatformPack) -> OfferedPack:
    return OfferedPack(
        uuid=pack.uuid,
        name=pack.name,
        summary=pack.summary,
        industry=pack.industry,
        business_type=pack.business_type,
        is_platform=True,
        entries=[offered_platform_entry(entry) for entry in pack.entries],
    )


def offered_platform_entry(entry: PlatformEntry) -> OfferedEntry:
    """Return an entry of the service's own packs as customers are offered it."""
    item = entry.item
    return OfferedEntry(
        uuid=entry.uuid,
        template_id=item.id,
        name=item.name,
        description=item.description,
        tier=entry.tier,
        requires=item.requires,
        ai=item.ai,
        catch_all=item.catch_all,
        trigger_label=item.trigger_label,
        channels=item.channels,
        slots=[],
        flow=item.flow,
        flow_digest=item.flow_digest,
    )

"""Reads packs in a bounded number of statements, and sets whether they replace the service's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Prefetch, QuerySet

from agency.actors import Actor
from agency.models import Agency
from agency.services import record_activity
from packs.library import library
from packs.models import Pack, PackEntry, PackSettings
from packs.services.errors import EntryNotFound, PackNotFound
from packs.services.packs import lock_settings
from workspaces.automations.models import Automation


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryView:
    """An entry with the library's current data. A retired automation shows its data from when it was added."""

    uuid: UUID
    source: str
    template_id: str | None
    name: str
    library_name: str | None
    name_override: str | None
    description: str
    description_override: str | None
    tier: str
    requires: list[str]
    ai: bool
    catch_all: bool
    trigger_label: str
    channels: list[str]
    missing: bool
    slots: list[dict[str, str]]
    flow_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackView:
    """A pack with its entries in order and the number of workspaces that have an automation from it."""

    uuid: UUID
    name: str
    summary: str | None
    industry: str | None
    industry_label: str
    business_type: str | None
    business_type_label: str
    status: str
    installed_in: int
    entries: list[EntryView]


def read_entry_view(entry: PackEntry) -> EntryView:
    """Return the view of an entry, without reading its flow."""
    from_library = entry.source == PackEntry.Source.LIBRARY
    item = library().items.get(entry.template_id or "")
    original = item or entry
    return EntryView(
        uuid=entry.uuid,
        source=entry.source,
        template_id=entry.template_id,
        name=entry.name_override or original.name,
        library_name=original.name if from_library else None,
        name_override=entry.name_override,
        description=entry.description_override or original.description,
        description_override=entry.description_override,
        tier=entry.tier,
        requires=entry.requires,
        ai=original.ai,
        catch_all=entry.catch_all,
        trigger_label=original.trigger_label,
        channels=original.channels,
        missing=from_library and item is None,
        slots=entry.slots,
        flow_digest=item.flow_digest if item else entry.flow_digest,
    )


def installed_in(packs: Iterable[UUID]) -> dict[UUID, int]:
    """Count for each pack the workspaces that have at least one automation from it."""
    counted = Automation.objects.filter(from_pack__in=list(packs)).values_list("from_pack")
    return {pack: number for pack, number in counted.annotate(Count("workspace", distinct=True)) if pack}


def read_pack_views(packs: Iterable[Pack]) -> list[PackView]:
    packs = list(packs)
    counted = installed_in(pack.uuid for pack in packs)
    return [
        PackView(
            uuid=pack.uuid,
            name=pack.name,
            summary=pack.summary,
            industry=pack.industry,
            industry_label=pack.get_industry_display() or "",
            business_type=pack.business_type,
            business_type_label=pack.get_business_type_display() or "",
            status=pack.status,
            installed_in=counted.get(pack.uuid, 0),
            entries=[read_entry_view(entry) for entry in pack.entries.all()],
        )
        for pack in packs
    ]


def with_entries() -> "Prefetch[str, QuerySet[PackEntry], str]":
    """Return a prefetch of entries, in order and without their flows."""
    return Prefetch("entries", PackEntry.objects.defer("flow").order_by("position"))


def packs_of(agency: Agency) -> list[PackView]:
    """Return all packs of an agency in gallery order, in three statements."""
    return read_pack_views(Pack.objects.of(agency).in_gallery_order().prefetch_related(with_entries()))


def find_pack(*, agency: Agency, uuid: UUID | None) -> Pack:
    """Find a pack of the agency. Raises `PackNotFound`, also for another agency's pack."""
    pack = Pack.objects.of(agency).filter(uuid=uuid).first() if uuid else None
    if pack is None:
        raise PackNotFound
    return pack


def read_pack_view(pack: Pack) -> PackView:
    """Re-read one pack as a view. Raises `PackNotFound` if it was removed meanwhile."""
    views = read_pack_views(Pack.objects.filter(pk=pack.pk).prefetch_related(with_entries()))
    if not views:
        raise PackNotFound
    return views[0]


def find_entry(*, pack: Pack, uuid: UUID | None) -> PackEntry:
    """Find an entry of the pack. Raises `EntryNotFound`."""
    entry = pack.entries.defer("flow").select_related("pack").filter(uuid=uuid).first() if uuid else None
    if entry is None:
        raise EntryNotFound
    return entry


def has_replace_setting(agency_id: int) -> bool:
    """Return the agency's setting."""
    return PackSettings.objects.filter(agency_id=agency_id, replace_platform=True).exists()


def is_replacement_in_effect(agency_id: int) -> bool:
    """Return whether the setting is in effect, which needs at least one published pack."""
    return has_replace_setting(agency_id) and Pack.objects.of(agency_id).published().exists()


@transaction.atomic
def set_replace_platform(*, agency: Agency, replace_platform: bool, by: Actor) -> PackSettings:
    """Set whether customers see only the agency's packs, or also the service's own after them."""
    settings = lock_settings(agency)
    if settings.replace_platform != replace_platform:
        changes = {"replace_platform": (settings.replace_platform, replace_platform)}
        settings.replace_platform = replace_platform
        settings.save(update_fields=["replace_platform"])
        target = ("agency", agency.uuid, agency.name)
        record_activity(by=by, action="packs.visibility_changed", agency_id=agency.pk, target=target, changes=changes)
    return settings

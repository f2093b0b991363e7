"""Add, change, order and remove the automations of a pack."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack
from uuid import UUID

from django.db import IntegrityError, transaction

from agency.actors import Actor
from config.db import name_key, violated_constraint
from packs.library import LibraryItem, library
from packs.models import MOST_ENTRIES, Pack, PackEntry
from packs.services.errors import (
    AlreadyInPack,
    CopyNeedsName,
    EntryNotFound,
    EntryRefused,
    NameTaken,
    NotACopy,
    NotInLibrary,
    OtherChannel,
    PackIsFull,
    SecondCatchAll,
)
from packs.services.packs import lock_pack, record_pack_activity, renumber, reordered
from workspaces.automations.flows.flow import requires_of

REFUSAL_OF_CONSTRAINT: dict[str, type[EntryRefused]] = {
    "pack_holds_nine_entries": PackIsFull,
    "pack_entry_position_once": PackIsFull,
    "pack_entry_name_once": NameTaken,
    "pack_entry_library_item_once": AlreadyInPack,
    "pack_holds_one_catch_all": SecondCatchAll,
}


class EntryChanges(TypedDict, total=False):
    """The fields of an entry that can be changed. An empty name or description restores the original."""

    name: str | None
    description: str | None
    tier: str
    requires: Sequence[str]


@dataclass(frozen=True, slots=True)
class Removal:
    """The effect of an entry's removal on its pack."""

    pack_status: str
    unpublished: bool


def add_library_entry(*, pack: Pack, template_id: str, by: Actor) -> PackEntry:
    """Add a library automation at the end. Raises `NotInLibrary`, `EntryRefused` on `template_id`."""
    item = library().items.get(template_id)
    if item is None:
        raise NotInLibrary
    return add_entry(pack=pack, entry=entry_of_item(item), field="template_id", by=by)


def entry_of_item(item: LibraryItem) -> PackEntry:
    return PackEntry(
        source=PackEntry.Source.LIBRARY,
        template_id=item.id,
        name=item.name,
        description=item.description,
        requires=item.requires,
        ai=item.ai,
        catch_all=item.catch_all,
        trigger_label=item.trigger_label,
        channels=item.channels,
    )


@transaction.atomic
def add_entry(*, pack: Pack, entry: PackEntry, field: str, by: Actor) -> PackEntry:
    """Add an entry at the end of a pack. Raises `EntryRefused` on `field`."""
    pack = lock_pack(pack)
    entry.pack, entry.name_key = pack, name_key(entry.name)
    held = list(pack.entries.defer("flow").order_by("position"))
    _check(entry, held, field)
    entry.position = len(held) + 1
    _save(entry, field)
    record_pack_activity(pack, "pack.entry_added", by, entry=str(entry), source=entry.source)
    return entry


def _check(entry: PackEntry, held: Sequence[PackEntry], field: str) -> None:
    if len(held) >= MOST_ENTRIES:
        raise PackIsFull(field=field)
    if entry.template_id and any(one.template_id == entry.template_id for one in held):
        raise AlreadyInPack(field=field)
    if entry.catch_all and any(one.catch_all for one in held):
        raise SecondCatchAll(field=field)
    if any(one.name_key == entry.name_key for one in held):
        raise NameTaken(field=field)


def _save(entry: PackEntry, field: str, *changed: str) -> None:
    """Save an entry. A violated constraint, after a race, raises the same error as the check."""
    try:
        with transaction.atomic():
            entry.save(update_fields=changed or None)
    except IntegrityError as error:
        refusal = REFUSAL_OF_CONSTRAINT.get(violated_constraint(error))
        if refusal is None:
            raise
        raise refusal(field=field) from error


@transaction.atomic
def change_entry(*, entry: PackEntry, by: Actor, **changes: Unpack[EntryChanges]) -> PackEntry:
    """Change the given fields of an entry, for later installs.

    An empty name or description restores the original. Raises `CopyNeedsName` for a copy with an empty name, and
    `NameTaken` on `name`.
    """
    pack = lock_pack(entry.pack)
    entry = _entry_of(pack, entry)
    before = _changeable(entry)
    if "name" in changes:
        _rename(entry, changes["name"])
    if "description" in changes:
        entry.description_override = changes["description"] or None
    if "requires" in changes:
        entry.requires = list(dict.fromkeys(changes["requires"]))
    if "tier" in changes:
        entry.tier = changes["tier"]
    made = {field: (before[field], value) for field, value in _changeable(entry).items() if before[field] != value}
    if made:
        _save(entry, "name", *made)
        made.pop("name_key", None)
        record_pack_activity(pack, "pack.entry_changed", by, made, entry=str(entry))
    return entry


def _changeable(entry: PackEntry) -> dict[str, object]:
    fields = ("name_override", "name_key", "description_override", "requires", "tier")
    return {field: getattr(entry, field) for field in fields}


def _rename(entry: PackEntry, name: str | None) -> None:
    if not name and entry.source == PackEntry.Source.CUSTOM:
        raise CopyNeedsName
    entry.name_override = name or None
    item = library().items.get(entry.template_id or "")
    entry.name_key = name_key(entry.name_override or (item or entry).name)
    if PackEntry.objects.filter(pack_id=entry.pack_id, name_key=entry.name_key).exclude(pk=entry.pk).exists():
        raise NameTaken(field="name")


def _entry_of(pack: Pack, entry: PackEntry) -> PackEntry:
    found = pack.entries.defer("flow").filter(pk=entry.pk).first()
    if found is None:
        raise EntryNotFound
    found.pack = pack
    return found


COPIED_FIELDS = ("flow", "flow_digest", "slots", "requires", "ai", "catch_all", "trigger_label", "description")


@transaction.atomic
def replace_copied_flow(*, entry: PackEntry, copied: PackEntry, by: Actor) -> PackEntry:
    """Put a newer copy in the place of an entry's flow. Installs are offered it as a new version.

    Name, own description and tier stay. Requirements that the agency chose stay, too. Raises `NotACopy`, and
    `EntryRefused` on `automation`.
    """
    pack = lock_pack(entry.pack)
    entry = _entry_of(pack, entry)
    if entry.source != PackEntry.Source.CUSTOM:
        raise NotACopy
    if entry.channels != copied.channels:
        raise OtherChannel(field="automation")
    is_as_required = entry.flow is not None and entry.requires == requires_of(entry.flow)
    fields = [name for name in COPIED_FIELDS if name != "requires" or is_as_required]
    for name in fields:
        setattr(entry, name, getattr(copied, name))
    _save(entry, "automation", *fields)
    record_pack_activity(pack, "pack.entry_copied_anew", by, entry=str(entry))
    return entry


@transaction.atomic
def remove_entry(*, entry: PackEntry, by: Actor) -> Removal:
    """Remove an automation from its pack. A published pack that loses its last one becomes a draft."""
    pack = lock_pack(entry.pack)
    entry = _entry_of(pack, entry)
    record_pack_activity(pack, "pack.entry_removed", by, entry=str(entry))
    entry.delete()
    left = list(pack.entries.defer("flow").order_by("position"))
    PackEntry.objects.bulk_update(renumber(left), ["position"])
    unpublished = not left and pack.status == Pack.Status.PUBLISHED
    if unpublished:
        pack.status = Pack.Status.DRAFT
        pack.save(update_fields=["status"])
        record_pack_activity(pack, "pack.unpublished", by)
    return Removal(pack_status=pack.status, unpublished=unpublished)


@transaction.atomic
def order_entries(*, pack: Pack, order: Sequence[UUID], by: Actor) -> Pack:
    """Put the named automations first, in this order. Raises `NotInOrder`."""
    pack = lock_pack(pack)
    entries = list(pack.entries.defer("flow").order_by("position"))
    entries = reordered(entries, order, unknown="The order names an automation that is not in this pack.")
    moved = renumber(entries)
    if moved:
        PackEntry.objects.bulk_update(moved, ["position"])
        record_pack_activity(pack, "pack.entries_ordered", by)
    return pack

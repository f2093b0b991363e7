"""Create, change, publish, order and remove packs, with their locks and their entries in the activity log."""

from collections.abc import Sequence
from typing import TypedDict, TypeVar, Unpack
from uuid import UUID

from django.db import transaction

from agency.actors import Actor
from agency.models import Agency
from agency.services import record_activity
from agency.services.activity import Changes, changes_to
from packs.models import Pack, PackEntry, PackSettings
from packs.services.errors import NothingToPublish, NotInOrder, PackNotFound, TooManyPacks


def record_pack_activity(pack: Pack, action: str, by: Actor, changes: Changes | None = None, **details: object) -> None:
    target = ("pack", pack.uuid, pack.name)
    record_activity(by=by, action=action, agency_id=pack.agency_id, target=target, details=details, changes=changes)


def lock_settings(agency: Agency) -> PackSettings:
    """Lock the agency's settings in the caller's transaction. The first call creates the row."""
    PackSettings.objects.bulk_create([PackSettings(agency_id=agency.pk)], ignore_conflicts=True)
    return PackSettings.objects.select_for_update().get(agency_id=agency.pk)


def lock_pack(pack: Pack) -> Pack:
    """Re-read a pack and lock its row. Raises `PackNotFound` if it was removed meanwhile."""
    locked = Pack.objects.select_for_update(of=("self",), no_key=True).filter(pk=pack.pk).first()
    if locked is None:
        raise PackNotFound
    return locked


Row = TypeVar("Row", Pack, PackEntry)


def reordered(rows: Sequence[Row], order: Sequence[UUID], *, unknown: str) -> list[Row]:
    """Return the rows in their new order. Raises `NotInOrder` with the message `unknown` for a uuid of no row."""
    by_uuid = {row.uuid: row for row in rows}
    if not by_uuid.keys() >= set(order):
        raise NotInOrder(unknown)
    named: list[Row] = [by_uuid[uuid] for uuid in order]
    rest: list[Row] = [row for row in rows if row.uuid not in set(order)]
    return named + rest


def renumber(rows: Sequence[Row]) -> list[Row]:
    """Number the rows from one on. Return those that moved, sorted by primary key."""
    moved = [row for position, row in enumerate(rows, 1) if row.position != position]
    for position, row in enumerate(rows, 1):
        row.position = position
    return sorted(moved, key=lambda row: row.pk)


MOST_PACKS = 1_000


class PackChanges(TypedDict, total=False):
    """The fields of a pack that can be changed."""

    name: str
    summary: str | None
    industry: str | None
    business_type: str | None
    status: str


@transaction.atomic
def create_pack(
    *,
    agency: Agency,
    name: str,
    by: Actor,
    summary: str | None = None,
    industry: str | None = None,
    business_type: str | None = None,
) -> Pack:
    """Add a draft as the last of the agency's packs. Raises `TooManyPacks`."""
    lock_settings(agency)
    positions = list(Pack.objects.of(agency).values_list("position", flat=True))
    if len(positions) >= MOST_PACKS:
        raise TooManyPacks
    pack = Pack.objects.create(
        agency_id=agency.pk,
        name=name,
        summary=summary or None,
        industry=industry,
        business_type=business_type,
        position=max(positions, default=0) + 1,
    )
    record_pack_activity(pack, "pack.created", by)
    return pack


@transaction.atomic
def change_pack(*, pack: Pack, by: Actor, **changes: Unpack[PackChanges]) -> Pack:
    """Change the given fields of a pack. Customers' automations stay as they are.

    Raises `NothingToPublish` if a pack without automations would be published.
    """
    pack = lock_pack(pack)
    if "summary" in changes:
        changes["summary"] = changes["summary"] or None
    if changes.get("status") == Pack.Status.PUBLISHED and not pack.entries.exists():
        raise NothingToPublish
    changed = {field: value for field, value in changes.items() if getattr(pack, field) != value}
    made = changes_to(pack, changed)
    for field, value in changed.items():
        setattr(pack, field, value)
    if changed:
        pack.save(update_fields=list(changed))
        record_pack_activity(pack, "pack.changed", by, made)
    return pack


@transaction.atomic
def remove_pack(*, pack: Pack, by: Actor) -> None:
    """Remove a pack from every gallery. Automations that customers have added from it stay."""
    pack = lock_pack(pack)
    record_pack_activity(pack, "pack.removed", by)
    pack.delete()


@transaction.atomic
def order_packs(*, agency: Agency, order: Sequence[UUID], by: Actor) -> list[UUID]:
    """Put the named packs first, in this order. Return the new order of all packs. Raises `NotInOrder`."""
    lock_settings(agency)
    packs = list(Pack.objects.of(agency).in_gallery_order())
    packs = reordered(packs, order, unknown="The order names a pack that is not one of yours.")
    moved = renumber(packs)
    if moved:
        Pack.objects.bulk_update(moved, ["position"])
        record_activity(by=by, action="packs.ordered", agency_id=agency.pk, target=("agency", agency.uuid, agency.name))
    return [pack.uuid for pack in packs]

"""Create, change, publish, order and remove packs."""

from collections.abc import Sequence
from typing import TypedDict, Unpack
from uuid import UUID

from django.db import transaction

from agency.actors import Actor
from agency.models import Agency
from agency.services import record_activity
from agency.services.activity import changes_to
from packs.models import Pack
from packs.services.activity import record_pack_activity
from packs.services.errors import NothingToPublish, TooManyPacks
from packs.services.locking import lock_pack, lock_settings
from packs.services.ordering import renumbered, reordered

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
    moved = renumbered(packs)
    if moved:
        Pack.objects.bulk_update(moved, ["position"])
        record_activity(by=by, action="packs.ordered", agency_id=agency.pk, target=("agency", agency.uuid, agency.name))
    return [pack.uuid for pack in packs]

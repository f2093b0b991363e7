"""Locks of packs, always in this order: an agency's settings, then a pack."""

from agency.models import Agency
from packs.models import Pack, PackSettings
from packs.services.errors import PackNotFound


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

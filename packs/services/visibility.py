"""Tells and sets whether an agency's packs replace the service's own in its customers' galleries."""

from django.db import transaction

from agency.actors import Actor
from agency.models import Agency
from agency.services import record_activity
from packs.models import Pack, PackSettings
from packs.services.locking import lock_settings


def replaces_platform(agency_id: int) -> bool:
    """Return the agency's setting."""
    return PackSettings.objects.filter(agency_id=agency_id, replace_platform=True).exists()


def platform_is_replaced(agency_id: int) -> bool:
    """Return whether the setting is in effect, which needs at least one published pack."""
    return replaces_platform(agency_id) and Pack.objects.of(agency_id).published().exists()


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

"""An agency's looks: the colour of its customers' buttons and its logo."""

import hashlib
import re

from django.db import transaction

from agency.actors import Actor
from agency.models import Agency, Brand
from agency.services.activity import record_activity
from agency.services.pictures import NoPicture, shrink
from config.errors import Invalid

ACCENT = re.compile(r"#[0-9a-f]{6}", re.ASCII)
NO_LOGO = {"logo": None, "logo_digest": "", "logo_width": None, "logo_height": None}


class AccentRefused(Invalid):
    field = "accent"
    message = "The colour must be written like #1f6feb."


class LogoRefused(Invalid):
    """The message says what is wrong with the file."""

    field = "logo"


def brand_of(agency: Agency) -> Brand:
    """The agency's looks without the logo's bytes; the product's own where none were saved."""
    return Brand.objects.filter(agency=agency).defer("logo").first() or Brand(agency=agency)


def logo_named(digest: str) -> bytes | None:
    """The PNG with this SHA-256, while an agency shows it."""
    found = Brand.objects.filter(logo_digest=digest).exclude(logo=None).values_list("logo", flat=True).first()
    return bytes(found) if found else None


@transaction.atomic
def set_accent(*, agency: Agency, accent: str, by: Actor) -> None:
    """Choose the colour of customers' buttons; empty for the product's own. Raises `AccentRefused`."""
    accent = accent.lower()
    if accent and not ACCENT.fullmatch(accent):
        raise AccentRefused
    brand = _lock(agency)
    if brand.accent == accent:
        return
    brand.accent = accent
    brand.save(update_fields=["accent", "changed_at"])
    _record(agency, "brand.colour_changed", by, accent=accent)


def set_logo(*, agency: Agency, file: bytes, by: Actor) -> None:
    """Show this picture beside the agency's name. Raises `LogoRefused`."""
    try:
        picture = shrink(file)
    except NoPicture as error:
        raise LogoRefused(str(error)) from error
    digest = hashlib.sha256(picture.png).hexdigest()
    values = {
        "logo": picture.png,
        "logo_digest": digest,
        "logo_width": picture.width,
        "logo_height": picture.height,
    }
    with transaction.atomic():
        if _lock(agency).logo_digest != digest:
            Brand.objects.update_or_create(agency=agency, defaults=values)
            _record(agency, "brand.logo_changed", by, digest=digest)


@transaction.atomic
def remove_logo(*, agency: Agency, by: Actor) -> None:
    """Go back to the name's first letter; without a logo nothing happens."""
    if Brand.objects.filter(agency=agency).exclude(logo=None).update(**NO_LOGO):
        _record(agency, "brand.logo_removed", by)


def _lock(agency: Agency) -> Brand:
    """Lock the agency's row without the logo's bytes, creating it the first time."""
    Brand.objects.bulk_create([Brand(agency=agency)], ignore_conflicts=True)
    return Brand.objects.select_for_update(no_key=True).defer("logo").get(agency=agency)


def _record(agency: Agency, action: str, by: Actor, **details: str) -> None:
    target = ("agency", agency.uuid, agency.name)
    record_activity(by=by, action=action, agency_id=agency.pk, target=target, details=details or None)

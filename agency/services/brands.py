"""An agency's brand: the colour from which all others follow, its logo for both themes, its favicon."""

import hashlib
import re
from typing import Any, Final

from django.db import transaction

from agency.actors import Actor
from agency.models import Agency, Brand
from agency.models.branding.brands import BYTES, PictureKind
from agency.services.activity import record_activity
from agency.services.activity.fields import Changes
from agency.services.pictures import DrawnPicture, NoPicture, Work, draw, icon_of_own, main_colours
from config.errors import InvalidInput

ACCENT = re.compile(r"#[0-9a-f]{6}", re.ASCII)
MOST_SUGGESTED: Final = 5
# What is drawn from an uploaded file, the requested picture first; a logo also gives the favicon.
DRAWN_OF: Final[dict[PictureKind, tuple[Work, ...]]] = {
    "logo": ("logo", "icon"),
    "dark_logo": ("logo",),
    "favicon": ("icon",),
}


class AccentRefused(InvalidInput):
    field = "accent"
    message = "The colour must be written like #1f6feb."


class PictureRefused(InvalidInput):
    """The message says what is wrong with the file."""

    field = "picture"


def brand_of(agency: Agency) -> Brand:
    """Return the agency's brand without the pictures' bytes; if none was saved, that of the product's own look."""
    return Brand.objects.filter(agency=agency).defer(*BYTES).first() or Brand(agency=agency)


def picture_named(digest: str, *, agency_id: int | None = None) -> bytes | None:
    """Return the PNG with this SHA-256 while this agency shows it; without `agency_id`, while any agency does."""
    brands = Brand.objects.all() if agency_id is None else Brand.objects.filter(agency=agency_id)
    for kind in BYTES:
        found = brands.filter(**{f"{kind}_digest": digest}).values_list(kind, flat=True).first()
        if found:
            return bytes(found)
    return None


def suggested_colours(agency: Agency) -> list[str]:
    """Return colours of an agency's logo as suggestions for its pages."""
    png = Brand.objects.filter(agency=agency).values_list("logo", flat=True).first()
    return main_colours(bytes(png), most=MOST_SUGGESTED) if png else []


@transaction.atomic
def set_accent(*, agency: Agency, accent: str, by: Actor) -> None:
    """Choose the colour that customers see; empty for the product's own. Raises `AccentRefused`."""
    accent = accent.lower()
    if accent and not ACCENT.fullmatch(accent):
        raise AccentRefused
    brand = _lock(agency)
    if brand.accent == accent:
        return
    changes = {"accent": (brand.accent, accent)}
    brand.accent = accent
    brand.save(update_fields=["accent", "changed_at"])
    _record(agency, "brand.colour_changed", by, changes=changes)


def set_picture(*, agency: Agency, kind: PictureKind, file: bytes, by: Actor) -> None:
    """Save a logo, a logo for dark backgrounds, or a favicon. Raises `PictureRefused`.

    The favicon is made from the logo unless the agency has uploaded its own.
    """
    try:
        drawn, *icons = draw(file, *DRAWN_OF[kind])
    except NoPicture as error:
        raise PictureRefused(str(error)) from error
    values = _columns(kind, drawn)
    digest = str(values[f"{kind}_digest"])
    with transaction.atomic():
        brand = _lock(agency)
        if kind == "favicon":
            values["favicon_is_own"] = True
        elif icons and not brand.favicon_is_own:
            values |= _columns("favicon", icons[0])
        if any(getattr(brand, name) != value for name, value in values.items() if name not in BYTES):
            _save(brand, values)
            _record(agency, f"brand.{kind}_changed", by, digest=digest)


@transaction.atomic
def remove_picture(*, agency: Agency, kind: PictureKind, by: Actor) -> None:
    """Remove a picture; if there is none, nothing changes.

    Without a logo, pages show the name's first letter; without its own favicon, an agency has one made from its logo.
    """
    brand = Brand.objects.select_for_update(no_key=True).defer(*BYTES).filter(agency=agency).first()
    if brand is None or brand.picture(kind) is None or (kind == "favicon" and not brand.favicon_is_own):
        return
    values = _columns(kind, None)
    if kind == "favicon":
        values |= {
            "favicon_is_own": False,
            **_columns("favicon", icon_of_own(bytes(brand.logo)) if brand.logo else None),
        }
    elif kind == "logo" and not brand.favicon_is_own:
        values |= _columns("favicon", None)
    _save(brand, values)
    _record(agency, f"brand.{kind}_removed", by)


def _columns(kind: PictureKind, drawn: DrawnPicture | None) -> dict[str, Any]:
    """Return the columns of a picture, or of no picture."""
    return {
        kind: drawn.png if drawn else None,
        f"{kind}_digest": hashlib.sha256(drawn.png).hexdigest() if drawn else "",
        f"{kind}_width": drawn.width if drawn else None,
        f"{kind}_height": drawn.height if drawn else None,
    }


def _save(brand: Brand, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(brand, name, value)
    brand.save(update_fields=[*values, "changed_at"])


def _lock(agency: Agency) -> Brand:
    """Lock the agency's row without the pictures' bytes, creating it the first time."""
    Brand.objects.bulk_create([Brand(agency=agency)], ignore_conflicts=True)
    return Brand.objects.select_for_update(no_key=True).defer(*BYTES).get(agency=agency)


def _record(agency: Agency, action: str, by: Actor, changes: Changes | None = None, **details: str) -> None:
    target = ("agency", agency.uuid, agency.name)
    record_activity(by=by, action=action, agency_id=agency.pk, target=target, details=details or None, changes=changes)

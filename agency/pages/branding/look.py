"""The theme of a page: name, logo and colours of the agency whose host it is, else the product's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from agency.models import Agency, Brand
from agency.models.branding.brands import Picture
from agency.pages.branding.host import host_agency, host_agency_id, is_host_known

# Themes that this process has shown, so that an error page needs no database.
MOST_REMEMBERED: Final = 1_000


@dataclass(frozen=True, slots=True)
class Look:
    """A page's theme. Without a `name` it is the product's own (`is_product`), or a neutral one."""

    name: str = ""
    colour: str = ""
    logo: Picture | None = None
    dark_logo: Picture | None = None
    favicon: str = ""
    is_product: bool = False


PRODUCT: Final = Look(is_product=True)
NEUTRAL: Final = Look()
_remembered: dict[int, Look] = {}


def look_of(request: HttpRequest) -> Look:
    """Return the theme of the requested host."""
    agency = host_agency(request)
    return look_of_agency(agency) if agency else PRODUCT


def look_of_agency(agency: Agency, brand: Brand | None = None) -> Look:
    """Return an agency's theme, with its own brand unless another is given."""
    shown = brand or getattr(agency, "brand", None) or Brand(agency=agency)
    look = Look(
        name=agency.name,
        colour=shown.colour,
        logo=shown.picture("logo"),
        dark_logo=shown.picture("dark_logo"),
        favicon=shown.favicon_digest,
    )
    _remember(agency.pk, look)
    return look


def remembered_look(request: HttpRequest) -> Look:
    """Return the host's theme without a query: neutral if this process has not shown it yet.

    It is also neutral while it is unknown whose host this is.
    """
    if not is_host_known(request):
        return NEUTRAL
    host = host_agency_id(request)
    return PRODUCT if host is None else _remembered.get(host, NEUTRAL)


def look_context(request: HttpRequest) -> Mapping[str, Any]:
    """Give every template `look`, which makes no query unless the template uses it."""
    return {"look": SimpleLazyObject(lambda: look_of(request))}


def _remember(agency_id: int, look: Look) -> None:
    if len(_remembered) >= MOST_REMEMBERED:
        _remembered.clear()
    _remembered[agency_id] = look

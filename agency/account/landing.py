"""Where somebody arrives who asked for no page in particular: where they last chose to be, while it is open to them."""

from django.urls import reverse

from agency.models import User
from agency.pages.registry import LandingPlace, in_order, landing_places
from agency.services.people.users import remember_landing


def landing_page_of(user: User) -> str:
    """Give the page; who belongs nowhere arrives where invitations are answered."""
    place = _landing_of(user)
    return reverse(place.url_name) if place else reverse("account:invitations")


def keep_landing(user: User) -> None:
    """Fix where somebody arrives who has never chosen: joining something more does not move them there."""
    place = None if user.landing else _landing_of(user)
    if place:
        remember_landing(user=user, landing=place.name)


def _landing_of(user: User) -> LandingPlace | None:
    open_ones = [place for place in in_order(landing_places) if place.is_open(user)]
    chosen = (place for place in open_ones if place.name == user.landing)
    return next(chosen, open_ones[0] if open_ones else None)

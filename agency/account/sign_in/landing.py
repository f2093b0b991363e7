"""The landing page of people who asked for no page: the place that they last chose, while it is open to them."""

from django.urls import reverse

from agency.models import User
from agency.pages.registry import LandingPlace, in_order, landing_places
from agency.services.people.users import remember_landing


def landing_page_of(user: User, agency_id: int | None) -> str:
    """Return the landing page, with `agency_id` among that agency's; without any, the page of invitations."""
    place = _landing_of(user, agency_id)
    return reverse(place.url_name) if place else reverse("account:invitations")


def keep_landing(user: User) -> None:
    """Fix the landing page of a person who has chosen none, so that a new membership does not change it."""
    place = None if user.landing else _landing_of(user, None)
    if place:
        remember_landing(user=user, landing=place.name)


def _landing_of(user: User, agency_id: int | None) -> LandingPlace | None:
    open_ones = [place for place in in_order(landing_places) if place.is_open(user, agency_id)]
    chosen = (place for place in open_ones if place.name == user.landing)
    return next(chosen, open_ones[0] if open_ones else None)

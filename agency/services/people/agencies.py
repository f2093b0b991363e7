"""Which agencies a person belongs to, for whatever reason; higher apps add their own kinds of membership."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agency.models import Agency, Member, User
from config.hooks import Registry


@dataclass(frozen=True, slots=True)
class WayToBelong:
    """Something that makes people belong to agencies: `agency_ids` returns the agencies of one person.

    An invitation that is not accepted counts only for people who have no password yet, so that no agency makes people
    its own by inviting them.
    """

    name: str
    agency_ids: Callable[[User], Iterable[int]]


ways_to_belong = Registry[WayToBelong](
    "ways to belong to an agency",
    called="`agency_ids_of` calls each, wherever the agencies of a person decide",
    transaction="the caller's, if there is one",
    failure="reaches the caller",
)
ways_to_belong.add(
    WayToBelong("team", lambda user: Member.objects.filter(user=user).values_list("agency_id", flat=True).distinct())
)


def agency_ids_of(user: User) -> set[int]:
    """Return the ids of the agencies that a person works at, or is a customer of."""
    return {pk for way in ways_to_belong for pk in way.agency_ids(user)}


def belongs_to(user: User, agency: Agency) -> bool:
    return agency.pk in agency_ids_of(user)


def only_agency_id_of(user: User) -> int | None:
    """Return the id of a person's only agency; None if they have several or none, and for support staff."""
    if user.is_staff:
        return None
    found = agency_ids_of(user)
    return found.pop() if len(found) == 1 else None


def only_agency_of(user: User) -> Agency | None:
    """Return a person's only agency, in whose name support writes to them; None for the installation's name."""
    found = only_agency_id_of(user)
    return None if found is None else Agency.objects.get(pk=found)

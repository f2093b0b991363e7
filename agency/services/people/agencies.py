"""Which agencies a person belongs to, whatever makes them belong: apps above this one add their own ways."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agency.models import Agency, Member, User
from config.hooks import Registry


@dataclass(frozen=True, slots=True)
class WayToBelong:
    """Something that makes people belong to agencies: `agency_ids` are those of one person.

    What somebody has not accepted counts for people who have no password yet, and for nobody else: no agency makes
    people its own by naming them.
    """

    name: str
    agency_ids: Callable[[User], Iterable[int]]


ways_to_belong = Registry[WayToBelong]("ways to belong to an agency")
ways_to_belong.add(
    WayToBelong("team", lambda user: Member.objects.filter(user=user).values_list("agency_id", flat=True).distinct())
)


def agency_ids_of(user: User) -> set[int]:
    """Give the agencies that a person works at, or is a customer of."""
    return {pk for way in ways_to_belong for pk in way.agency_ids(user)}


def belongs_to(user: User, agency: Agency) -> bool:
    return agency.pk in agency_ids_of(user)


def only_agency_id_of(user: User) -> int | None:
    """Give the one agency that a person belongs to; None for who has several or none, and for support staff."""
    if user.is_staff:
        return None
    found = agency_ids_of(user)
    return found.pop() if len(found) == 1 else None


def only_agency_of(user: User) -> Agency | None:
    """Give the one agency in whose name support writes to a person; None: in the installation's."""
    found = only_agency_id_of(user)
    return None if found is None else Agency.objects.get(pk=found)

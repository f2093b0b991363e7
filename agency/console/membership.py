"""The person who uses the console, the agency chosen among theirs, and their role, read on every request."""

from dataclasses import dataclass

from django.http import HttpRequest

from agency.models import Agency, Member, User

CHOSEN = "agency"


@dataclass(frozen=True, slots=True)
class CurrentMembership:
    """A person at one agency's console; `others` are the same person's memberships elsewhere."""

    user: User
    member: Member
    others: list[Member]

    @property
    def agency(self) -> Agency:
        return self.member.agency

    @property
    def is_owner(self) -> bool:
        return self.member.role == Member.Role.OWNER


def memberships_of(user: User, agency_id: int | None) -> list[Member]:
    """Return a person's memberships with their agencies, ordered by name; with `agency_id` only the one there."""
    return list(Member.objects.of_person(user, agency_id).select_related("agency").order_by("agency__name_key", "id"))


def current_membership(request: HttpRequest, user: User, memberships: list[Member]) -> CurrentMembership | None:
    """Return the membership that the session names, else the one chosen last, else the oldest.

    None if the person is no member of the agency that the session names.
    """
    chosen = request.session.get(CHOSEN)
    if chosen is None and memberships:
        last = (one for one in memberships if one.agency.uuid == user.chosen_agency)
        first = next(last, None) or min(memberships, key=lambda one: (one.created_at, one.pk))
        chosen = request.session[CHOSEN] = str(first.agency.uuid)
    member = next((one for one in memberships if str(one.agency.uuid) == chosen), None)
    return CurrentMembership(user, member, [one for one in memberships if one != member]) if member else None

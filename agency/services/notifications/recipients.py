"""Who is notified of what: the people of an agency here, the people of workspaces by the higher app that knows them."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import F, Q, QuerySet

from agency.models import Agency, Member, NotificationEvent, User
from agency.notification_kinds import notification_kind
from agency.tenants import Audience
from config.hooks import Registry


@dataclass(frozen=True, slots=True)
class RecipientSource:
    """The people of one audience; `name` is the audience.

    `people` returns the people who may see an event, each with a `role`; nobody if the agency or workspace is closed.
    With `only_who_may_open` people without the required two-factor are left out.
    """

    name: str
    people: "Callable[[NotificationEvent, bool], QuerySet[User]]"


recipient_sources = Registry[RecipientSource](
    "sources of recipients",
    called=(
        "`recipients_of` calls that of the event's audience, before people are notified and before their e-mail "
        "is queued"
    ),
    transaction="its own, one for each batch or e-mail",
    failure="rolls the batch back and ends the task; after five tries it is given up",
)
HAS_TWO_FACTOR = Q(two_factor__confirmed_at__isnull=False)


def recipients_of(event: NotificationEvent, *, only_who_may_open: bool = False) -> "QuerySet[User]":
    """Return the people who may see an event now."""
    source = recipient_sources.get(event.audience)
    rows = source.people(event, only_who_may_open) if source else User.objects.none()
    return rows if event.only_user_id is None else rows.filter(pk=event.only_user_id)


def _staff(event: NotificationEvent, only_who_may_open: bool) -> "QuerySet[User]":
    """Return the staff of an active agency whose role is notified of this kind."""
    found = Member.objects.filter(
        agency=event.agency_id,
        agency__status=Agency.Status.ACTIVE,
        role__in=notification_kind(event.kind).roles,
    )
    rows = User.objects.filter(is_active=True, memberships__in=found).annotate(role=F("memberships__role"))
    if only_who_may_open:
        rows = rows.filter(HAS_TWO_FACTOR | ~Q(role__in=event.agency.two_factor_roles))
    return rows


STAFF = RecipientSource(Audience.AGENCY, _staff)

"""How a person wants to be told of each kind, at one agency or workspace."""

from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import transaction

from agency.models import NotificationPreference, User
from agency.models.notifications import Way
from agency.notification_kinds import NotificationKind
from agency.services.notifications.fan_out import way_of
from config.errors import Invalid


class UnknownWay(Invalid):
    message = "This kind of notification is not sent in this way."


def preferences_of(*, user: User, area: UUID, kinds: Collection[NotificationKind], role: str) -> dict[str, Way]:
    """Give the way of each kind, as chosen or as is usual for this role."""
    rows = NotificationPreference.objects.filter(user=user, area=area)
    chosen = dict(rows.values_list("kind", "way"))
    return {kind.name: way_of(kind, chosen.get(kind.name), role) for kind in kinds}


@transaction.atomic
def set_preferences(*, user: User, area: UUID, kinds: Collection[NotificationKind], ways: Mapping[str, Way]) -> None:
    """Keep a person's choices, one row for each kind that is among `ways`. Raises `UnknownWay`.

    It changes nothing of an agency's, so that no activity is recorded. E-mails that wait follow it when they are due.
    """
    of_name = {kind.name: kind for kind in kinds}
    for name, way in ways.items():
        if name not in of_name or way not in of_name[name].ways:
            raise UnknownWay
    NotificationPreference.objects.bulk_create(
        [NotificationPreference(user=user, area=area, kind=name, way=way) for name, way in ways.items()],
        update_conflicts=True,
        unique_fields=["user", "area", "kind"],
        update_fields=["way"],
    )

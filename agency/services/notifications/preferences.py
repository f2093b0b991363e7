"""How a person wants to receive each kind of notifications, at one agency or workspace."""

from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import transaction

from agency.models import NotificationPreference, User
from agency.models.notifications import Way
from agency.notification_kinds import NotificationKind
from agency.services.notifications.fan_out import way_of
from config.errors import InvalidInput


class UnknownWay(InvalidInput):
    message = "This kind of notification is not sent in this way."


def preferences_of(*, user: User, area: UUID, kinds: Collection[NotificationKind], role: str) -> dict[str, Way]:
    """Return the delivery method of each kind, as chosen or the default for this role."""
    rows = NotificationPreference.objects.filter(user=user, area=area)
    chosen = dict(rows.values_list("kind", "way"))
    return {kind.name: way_of(kind, chosen.get(kind.name), role) for kind in kinds}


@transaction.atomic
def set_preferences(*, user: User, area: UUID, kinds: Collection[NotificationKind], ways: Mapping[str, Way]) -> None:
    """Save a person's choices, one row for each kind that is among `ways`. Raises `UnknownWay`.

    They are the person's own, so no activity is recorded. Waiting e-mails follow the choices when they are due.
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

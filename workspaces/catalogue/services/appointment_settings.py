"""How a service of the kind appointment is booked, and who provides it."""

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, TypedDict
from uuid import UUID

from django.db import connection

from config.errors import InvalidInput, NotFound
from config.postgresql.arrays import integers
from workspaces.catalogue.models import Service, ServiceStaff, Staff

MOST_PROVIDERS: Final = 50
SETTINGS: Final = (
    "buffer_before",
    "buffer_after",
    "notice_minutes",
    "horizon_days",
    "step_minutes",
    "deposit",
    "bookable",
)
SHARE_LOCK_STAFF: Final = """
SELECT id FROM catalogue_staff WHERE id = ANY(%s::bigint[]) AND workspace_id = %s AND deleted_at IS NULL
ORDER BY id FOR SHARE
"""


class StaffNotFound(NotFound):
    message = "Staff member not found."


class AppointmentSettingRefused(InvalidInput):
    """A setting is for appointments only, or does not fit the price."""


class AppointmentSettings(TypedDict, total=False):
    """The fields that only services of the kind appointment have. `staff` are at most 50 people."""

    buffer_before: int
    buffer_after: int
    notice_minutes: int
    horizon_days: int
    step_minutes: int
    deposit: Decimal | None
    bookable: bool
    staff: Collection[Staff]


def default_settings() -> dict[str, object]:
    """Return each setting's value in a service for which it was never set."""
    usual = Service(kind=Service.Kind.APPOINTMENT)
    return {name: getattr(usual, name) for name in SETTINGS}


def check_settings(service: Service, given: Mapping[str, Any]) -> None:
    """Raise `AppointmentSettingRefused` if a class gets settings of appointments, or a deposit is above the price."""
    if service.kind != Service.Kind.APPOINTMENT:
        usual = {**default_settings(), "staff": []}
        for name, value in given.items():
            if name in usual and (list(value) if name == "staff" else value) != usual[name]:
                subject = name.replace("_", " ")
                raise AppointmentSettingRefused(
                    f"The {subject} field is only for services of the kind appointment.", field=name
                )
    if service.deposit is not None and service.price is not None and service.deposit > service.price:
        raise AppointmentSettingRefused("The deposit field must not be above the price.", field="deposit")


def set_providers(service: Service, staff: Iterable[Staff]) -> None:
    """Replace the people who provide a service. Raises `StaffNotFound` and `AppointmentSettingRefused`."""
    wanted = {one.pk for one in staff}
    if len(wanted) > MOST_PROVIDERS:
        raise AppointmentSettingRefused(f"A service may have at most {MOST_PROVIDERS} staff members.", field="staff")
    with connection.cursor() as cursor:
        cursor.execute(SHARE_LOCK_STAFF, [integers(wanted), service.workspace_id])
        if {pk for (pk,) in cursor.fetchall()} != wanted:
            raise StaffNotFound
    rows = ServiceStaff.objects.filter(service=service)
    rows.exclude(staff__in=wanted).delete()
    known = set(rows.values_list("staff", flat=True))
    ServiceStaff.objects.bulk_create(ServiceStaff(service=service, staff_id=pk) for pk in sorted(wanted - known))
    service.__dict__.get("_prefetched_objects_cache", {}).pop("staff", None)


def settings_snapshot(service: Service) -> dict[str, object]:
    """Give the settings as JSON types, as the API reads them."""
    return {
        **{name: getattr(service, name) for name in SETTINGS},
        "staff": [str(uuid) for uuid in service.staff_uuids],
        "deposit": None if service.deposit is None else float(service.deposit),
    }


def find_staff(*, workspace_id: int, uuids: Collection[UUID]) -> list[Staff]:
    """Find staff of a workspace by their uuids. Raises `StaffNotFound` if one is not there."""
    found = list(Staff.objects.filter(workspace=workspace_id, deleted_at=None, uuid__in=uuids).order_by("pk"))
    if len(found) != len(set(uuids)):
        raise StaffNotFound
    return found

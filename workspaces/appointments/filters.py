"""The filters of appointments and the range of free times."""

from typing import Final

from config.api.filters import ChoiceFilter, DateTimeFilter, FilterSet, UUIDFilter
from workspaces.appointments.models import Appointment
from workspaces.catalogue.models import Service


class AppointmentFilterSet(FilterSet):
    service = UUIDFilter(field_name="service__uuid", help_text="Only appointments of this service.")
    staff = UUIDFilter(field_name="staff__uuid", help_text="Only appointments with this staff member.")
    contact = UUIDFilter(field_name="contact__uuid", help_text="Only appointments of this contact.")
    status = ChoiceFilter(choices=Appointment.Status.choices, help_text="Only appointments of this status.")
    starts_after = DateTimeFilter(
        field_name="starts_at", lookup_expr="gte", help_text="Only appointments that start then or later."
    )
    starts_before = DateTimeFilter(
        field_name="starts_at", lookup_expr="lte", help_text="Only appointments that start then or earlier."
    )


# `from` is a word of Python, so the class cannot name it as an attribute.
RANGE: Final[dict[str, object]] = {
    "__module__": __name__,
    "__doc__": "Which free times are asked for.",
    "Meta": type("Meta", (), {"model": Service, "fields": ()}),
    "service": UUIDFilter(required=True, help_text="A service of the kind appointment."),
    "staff": UUIDFilter(help_text="Only times of this staff member."),
    "from": DateTimeFilter(required=True, help_text="Only times that start then or later."),
    "to": DateTimeFilter(required=True, help_text="Only times that start earlier; at most 31 days after `from`."),
}
AvailabilityFilterSet: Final[type[FilterSet]] = type("AvailabilityFilterSet", (FilterSet,), RANGE)

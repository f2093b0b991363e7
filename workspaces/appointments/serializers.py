"""Appointments, free times, working hours and times off in the workspace API."""

from typing import Any

from config.api.fields import BooleanField, ChoiceField, DateField, DateTimeField, ListField, UUIDField
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField, TimezoneField
from config.errors import InvalidInput
from workspaces.appointments.models import Appointment
from workspaces.appointments.models.hours import LONGEST_REASON
from workspaces.appointments.services.availability import FreeTime
from workspaces.appointments.services.hours import MOST_EXCEPTIONS, WorkingHoursRefused
from workspaces.appointments.services.links import manage_url
from workspaces.catalogue.serializers import STAFF, price_field, staff_of_caller
from workspaces.catalogue.services import ServiceNotFound, StaffNotFound
from workspaces.classes.serializers import CONTACT, SERVICE, contacts_of_caller, services_of_caller
from workspaces.contacts.services import ContactNotFound
from workspaces.subaccounts.api.workspace import OpeningHoursSerializer
from workspaces.subaccounts.services.settings import MOST_INTERVALS, OpeningHoursRefused

STARTS, ENDS = "2026-12-01T09:00:00Z", "2026-12-01T09:45:00Z"
MANAGE_URL = "https://app.example.com/book/manage/Yk3f0mS9cXq2LwT7eRz1VhN8aUj5bGdP4iKoC6tMxQs"


class ManageUrlField(CharField):
    """The address of the page on which the contact manages an appointment. Its value is the appointment."""

    def __init__(self, **options: Any) -> None:
        super().__init__(source="*", read_only=True, **options)
        self.is_written_as_it_is = False

    def to_representation(self, value: Appointment) -> str:
        return manage_url(value)


class AppointmentServiceSerializer(Serializer):
    """The service that was booked."""

    id = UUIDField(source="uuid", example=SERVICE)
    name = CharField(example="Haircut")


class AppointmentStaffSerializer(Serializer):
    """The staff member who has the appointment."""

    id = UUIDField(source="uuid", example=STAFF)
    name = CharField(example="Mia")


class AppointmentContactSerializer(Serializer):
    """The contact who has the appointment."""

    id = UUIDField(source="uuid", example=CONTACT)
    name = CharField(example="Ada Lovelace")
    phone = CharField(allow_null=True, example="+4930123456")


class AppointmentSerializer(Serializer):
    """A contact's appointment with a staff member."""

    id = UUIDField(source="uuid", example="3c1d8a52-6f0b-4d1a-9a77-5e2b9c4f8d10")
    service = AppointmentServiceSerializer()
    staff = AppointmentStaffSerializer()
    contact = AppointmentContactSerializer(allow_null=True, help_text="Null once the contact was removed.")
    starts_at = DateTimeField(example=STARTS)
    ends_at = DateTimeField(example=ENDS)
    status = ChoiceField(Appointment.Status.choices, example=Appointment.Status.BOOKED.value)
    timezone = TimezoneField(help_text="The clock of the person who booked.", example="Europe/Berlin")
    price = price_field(allow_null=True, help_text="The service's when it was booked.")
    currency = CharField(example="EUR")
    manage_url = ManageUrlField(
        help_text="The page on which the contact moves and cancels it. Anybody with the link may do so.",
        example=MANAGE_URL,
    )
    created_at = DateTimeField()


class AppointmentBodySerializer(Serializer):
    """An appointment to be booked."""

    service = TenantRelatedField(
        queryset=services_of_caller,
        missing=ServiceNotFound,
        representation=AppointmentServiceSerializer(),
        help_text="A service of the kind appointment.",
        example=SERVICE,
    )
    contact = TenantRelatedField(
        queryset=contacts_of_caller,
        missing=ContactNotFound,
        representation=AppointmentContactSerializer(),
        example=CONTACT,
    )
    starts_at = DateTimeField(help_text="One of the free times.", example="2100-12-01T09:00:00Z")
    staff = TenantRelatedField(
        queryset=staff_of_caller,
        missing=StaffNotFound,
        representation=AppointmentStaffSerializer(),
        required=False,
        allow_null=True,
        default=None,
        help_text="Where it is left out, the person who is free and has the least to do that day takes it.",
        example=STAFF,
    )
    timezone = TimezoneField(
        required=False,
        help_text="The booker's clock. Where it is left out, the contact's counts, else the workspace's.",
        example="Europe/Berlin",
    )


class AppointmentMoveSerializer(Serializer):
    """Where an appointment is moved to."""

    starts_at = DateTimeField(help_text="One of the free times.", example="2100-12-01T10:00:00Z")
    staff = TenantRelatedField(
        queryset=staff_of_caller,
        missing=StaffNotFound,
        representation=AppointmentStaffSerializer(),
        required=False,
        allow_null=True,
        default=None,
        help_text="Where it is left out, the staff member stays.",
        example=STAFF,
    )


class AppointmentCancellationSerializer(Serializer):
    """Why an appointment is cancelled."""

    reason = CharField(
        max_length=LONGEST_REASON,
        required=False,
        default="",
        allow_blank=True,
        help_text="For the activity log.",
        example="Ill",
    )


class FreeTimeSerializer(Serializer):
    """A time at which an appointment can be booked, and the staff members who are free."""

    starts_at = DateTimeField(example=STARTS)
    ends_at = DateTimeField(example=ENDS)
    staff = ListField(child=UUIDField(), source="staff_uuids", example=[STAFF])


class RestOfFreeTimesSerializer(Serializer):
    """Where an answer with free times ends."""

    next_from = DateTimeField(
        allow_null=True,
        help_text="An answer ends after the time at which it names 10,000 staff members in all. Then this is the next "
        "free time: send it as `from` to get the rest. Null without a rest.",
        example="2026-12-08T14:15:00Z",
    )


class ShownFreeTime:
    """A free time with the ids of the staff."""

    def __init__(self, found: FreeTime) -> None:
        self.starts_at, self.ends_at = found.starts_at, found.ends_at
        self.staff_uuids = [one.uuid for one in found.staff]


class HoursOfDateSerializer(Serializer):
    """The hours of one date, which replace those of its weekday. Without intervals it is free."""

    date = DateField(example="2100-12-24")
    intervals = ListField(
        child=ListField(child=CharField(max_length=5, example="09:00"), min_length=2, max_length=2),
        max_length=MOST_INTERVALS,
        example=[["09:00", "13:00"]],
    )


class WeeklyHoursSerializer(OpeningHoursSerializer):
    """Pairs of times for each day, from `00:00` to `24:00`; a day without pairs is free."""

    def to_internal_value(self, data: object) -> Any:
        try:
            return super().to_internal_value(data)
        except OpeningHoursRefused as refusal:
            raise WorkingHoursRefused("The weekly field takes the days monday to sunday.") from refusal


class WorkingHoursSerializer(Serializer):
    """When a staff member works, by the clock of `timezone`."""

    timezone = TimezoneField(example="Europe/Berlin")
    weekly = WeeklyHoursSerializer()
    exceptions = HoursOfDateSerializer(many=True)
    follows_business = BooleanField(
        help_text="Whether these are the opening hours of the business, because the person has none.", example=False
    )


class WorkingHoursBodySerializer(Serializer):
    """A staff member's hours. They are replaced as a whole: a day left out is free, and so are dates left out."""

    timezone = TimezoneField(required=False, help_text="Required with weekly hours.", example="Europe/Berlin")
    weekly = WeeklyHoursSerializer(
        allow_null=True, help_text="Null: the opening hours of the business count, by its clock."
    )
    exceptions = ListField(
        child=HoursOfDateSerializer(),
        max_length=MOST_EXCEPTIONS,
        required=False,
        default=list,
        help_text="At most 400, each for another date.",
        example=[{"date": "2100-12-24", "intervals": [["09:00", "13:00"]]}],
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if values["weekly"] is not None and not values.get("timezone"):
            raise InvalidInput("The timezone field is required with weekly hours.", field="timezone")
        dates = [one["date"] for one in values["exceptions"]]
        if len(set(dates)) != len(dates):
            raise InvalidInput("The exceptions field must not name the same date twice.", field="exceptions")
        return values


class TimeOffSerializer(Serializer):
    """A time in which a staff member takes no appointments."""

    id = UUIDField(source="uuid", read_only=True, example="8e1f7c20-2c5b-4a3d-9d6e-1b0a7f4c5e92")
    starts_at = DateTimeField(example="2100-12-24T00:00:00+01:00")
    ends_at = DateTimeField(example="2100-12-27T00:00:00+01:00")
    reason = CharField(max_length=LONGEST_REASON, required=False, default="", blank_as_null=True, example="Holidays")

"""Group classes, their participants, waiting lists and series in the workspace API, and the filters of their lists."""

import re
from collections.abc import Iterable, Mapping
from datetime import time
from typing import Any, Final

from django.db.models import QuerySet

from config.api.fields import ChoiceField, DateField, DateTimeField, IntegerField, ListField, UUIDField
from config.api.filters import ChoiceFilter, DateTimeFilter, FilterSet, UUIDFilter
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField, TimezoneField
from workspaces.catalogue.models import Service
from workspaces.catalogue.serializers import STAFF, staff_of_caller
from workspaces.catalogue.services import ServiceNotFound, StaffNotFound
from workspaces.classes.models import (
    LONGEST_INTERVAL,
    LONGEST_MINUTES,
    MOST_OF_A_COUNT,
    MOST_SEATS,
    ClassSeries,
    ClassSession,
    LeftOutDate,
)
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound

SERVICE = "e2ad9f7b-6d27-4c4c-9c70-0f0f8d1f6a11"
TIME_OF_DAY: Final = re.compile(r"\d{2}:\d{2}", re.ASCII)
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CONTACT = "1f8d6a0e-7b1c-4a5e-9f0d-2c3b4a5d6e7f"


def services_of_caller(context: Mapping[str, Any]) -> "QuerySet[Service]":
    return Service.objects.of(context["view"].workspace)


def contacts_of_caller(context: Mapping[str, Any]) -> "QuerySet[Contact]":
    return Contact.objects.of(context["view"].workspace)


class ClassServiceSerializer(Serializer):
    """The service that a class is one occurrence of."""

    id = UUIDField(source="uuid", example=SERVICE)
    name = CharField(example="Yoga for beginners")


class ClassStaffSerializer(Serializer):
    """Who hosts a class."""

    id = UUIDField(source="uuid", example=STAFF)
    name = CharField(example="Mia")


class ClassSessionSerializer(Serializer):
    """One occurrence of a class service, with its pool of seats."""

    id = UUIDField(source="uuid", example="7a0f4a0e-0c5a-4b3a-8a2b-2d9a5f3e6c11")
    service = ClassServiceSerializer()
    staff = ClassStaffSerializer(allow_null=True)
    starts_at = DateTimeField(example="2026-12-01T17:00:00Z")
    ends_at = DateTimeField(example="2026-12-01T18:00:00Z")
    capacity = IntegerField(example=12)
    participants_count = IntegerField(example=3)
    status = ChoiceField(ClassSession.Status.choices, example=ClassSession.Status.SCHEDULED.value)


class ClassSessionBodySerializer(Serializer):
    """A class to be scheduled."""

    service = TenantRelatedField(
        queryset=services_of_caller,
        missing=ServiceNotFound,
        representation=ClassServiceSerializer(),
        help_text="A service of the kind class.",
        example=SERVICE,
    )
    staff = TenantRelatedField(
        queryset=staff_of_caller,
        missing=StaffNotFound,
        representation=ClassStaffSerializer(),
        required=False,
        allow_null=True,
        default=None,
        example=STAFF,
    )
    starts_at = DateTimeField(example="2100-12-01T18:00:00+01:00")
    ends_at = DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Where it is left out, the service's duration says when.",
        example="2100-12-01T19:00:00+01:00",
    )
    capacity = IntegerField(min_value=1, max_value=MOST_SEATS, help_text="How many seats there are.", example=12)


class ParticipantContactSerializer(Serializer):
    """The contact who has the seat."""

    id = UUIDField(source="uuid", example=CONTACT)
    name = CharField(example="Ada Lovelace")
    phone = CharField(allow_null=True, example="+4930123456")


class ParticipantSerializer(Serializer):
    """A seat in a class."""

    contact = ParticipantContactSerializer()
    created_at = DateTimeField()


class ParticipantBodySerializer(Serializer):
    """Who is to have a seat."""

    contact = TenantRelatedField(
        queryset=contacts_of_caller,
        missing=ContactNotFound,
        representation=ParticipantContactSerializer(),
        example=CONTACT,
    )


class WaitingListEntrySerializer(Serializer):
    """A contact who waits for a seat."""

    contact = ParticipantContactSerializer()
    created_at = DateTimeField()


class ClassChangesSerializer(Serializer):
    """What of a class can change."""

    starts_at = DateTimeField(required=False, example="2100-12-01T18:00:00+01:00")
    ends_at = DateTimeField(
        required=False,
        help_text="Where only the start changes, the class keeps its length.",
        example="2100-12-01T19:00:00+01:00",
    )
    staff = TenantRelatedField(
        queryset=staff_of_caller,
        missing=StaffNotFound,
        representation=ClassStaffSerializer(),
        required=False,
        allow_null=True,
        example=STAFF,
    )
    capacity = IntegerField(
        min_value=1,
        max_value=MOST_SEATS,
        required=False,
        help_text="Not below the number of seats taken. New seats go to the waiting list first.",
        example=12,
    )


class TimeOfDayField(CharField):
    """A time of day such as `18:00`, by the clock of the resource's time zone."""

    default_error_messages = {"time": "{subject} must be a time such as 18:00."}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.is_written_as_it_is = False

    def to_representation(self, value: time) -> str:
        return f"{value:%H:%M}"

    def to_internal_value(self, data: object) -> Any:
        text = super().to_internal_value(data)
        try:
            return time.fromisoformat(text if TIME_OF_DAY.fullmatch(text) else "")
        except ValueError:
            self.fail("time")


class WeekdaysField(ListField):
    """Names of weekdays, which the database keeps as numbers."""

    is_written_as_it_is = False

    def __init__(self, **options: object) -> None:
        days = [(day, day) for day in WEEKDAYS]
        example = ["monday", "thursday"]
        super().__init__(child=ChoiceField(days), distinct=True, max_length=len(WEEKDAYS), example=example, **options)

    def to_representation(self, value: Iterable[int]) -> list[str]:
        return [WEEKDAYS[number] for number in value]

    def to_internal_value(self, data: object) -> list[Any]:
        return [WEEKDAYS.index(day) for day in super().to_internal_value(data)]


class LeftOutDateSerializer(Serializer):
    """A date for which a series made no class."""

    date = DateField(example="2026-12-24")
    starts_at = DateTimeField(example="2026-12-24T17:00:00Z")
    reason = ChoiceField(LeftOutDate.Reason.choices, example=LeftOutDate.Reason.HOST_BUSY.value)


class ClassSeriesSerializer(Serializer):
    """A rule by which classes take place again and again. Its classes are made up to 90 days ahead."""

    id = UUIDField(source="uuid", example="3b8e0d52-4f7b-4f0e-9b0e-5a1c7d2e9f43")
    service = ClassServiceSerializer()
    staff = ClassStaffSerializer(allow_null=True)
    first_date = DateField(example="2026-12-01")
    start_time = TimeOfDayField(example="18:00")
    timezone = CharField(example="Europe/Berlin")
    duration_minutes = IntegerField(example=60)
    capacity = IntegerField(example=12)
    interval = IntegerField(example=1)
    unit = ChoiceField(ClassSeries.Unit.choices, example=ClassSeries.Unit.WEEKS.value)
    weekdays = WeekdaysField()
    until = DateField(allow_null=True, example="2027-06-30")
    count = IntegerField(allow_null=True, example=None)
    status = ChoiceField(ClassSeries.Status.choices, example=ClassSeries.Status.ACTIVE.value)
    made_through = DateField(
        allow_null=True, help_text="The last date for which classes were made.", example="2027-03-01"
    )
    left_out = LeftOutDateSerializer(many=True)
    created_at = DateTimeField()


class ClassSeriesRuleSerializer(Serializer):
    """The fields of a series that can be sent when it is created and when it changes."""

    staff = TenantRelatedField(
        queryset=staff_of_caller,
        missing=StaffNotFound,
        representation=ClassStaffSerializer(),
        required=False,
        allow_null=True,
        default=None,
        example=STAFF,
    )
    start_time = TimeOfDayField(example="18:00")
    duration_minutes = IntegerField(
        min_value=1,
        max_value=LONGEST_MINUTES,
        required=False,
        help_text="Where it is left out, the service's duration.",
        example=60,
    )
    capacity = IntegerField(min_value=1, max_value=MOST_SEATS, help_text="How many seats each class has.", example=12)
    interval = IntegerField(
        min_value=1,
        max_value=LONGEST_INTERVAL,
        required=False,
        default=1,
        help_text="2 with `weeks`: every second week.",
        example=1,
    )
    unit = ChoiceField(
        ClassSeries.Unit.choices,
        required=False,
        default=ClassSeries.Unit.WEEKS.value,
        example=ClassSeries.Unit.WEEKS.value,
    )
    weekdays = WeekdaysField(
        required=False, help_text="For a series in weeks. Where they are left out, the weekday of the first date."
    )
    until = DateField(
        required=False, allow_null=True, default=None, help_text="The last date, included.", example="2101-06-30"
    )
    count = IntegerField(
        min_value=1,
        max_value=MOST_OF_A_COUNT,
        required=False,
        allow_null=True,
        default=None,
        help_text="The number of dates, in the place of `until`. Without both, the series goes on until it is ended.",
        example=None,
    )


class ClassSeriesBodySerializer(ClassSeriesRuleSerializer):
    """A series to be created."""

    service = TenantRelatedField(
        queryset=services_of_caller,
        missing=ServiceNotFound,
        representation=ClassServiceSerializer(),
        help_text="A service of the kind class.",
        example=SERVICE,
    )
    first_date = DateField(example="2100-12-01")
    timezone = TimezoneField(
        required=False,
        help_text="The zone by whose clock the classes start; the workspace's where it is left out.",
        example="Europe/Berlin",
    )


class ClassSeriesChangesSerializer(ClassSeriesRuleSerializer):
    """What of a series changes, and from which date on."""

    def get_fields(self) -> dict[str, Any]:
        first = DateField(
            required=False,
            help_text="The first date that changes; today where it is left out. At the latest the day after "
            "`made_through`. A new `interval` or `unit` counts from this date.",
            example="2100-12-08",
        )
        return {"from": first, **super().get_fields()}


class ClassSeriesOutcomeSerializer(Serializer):
    """What a change did to the coming classes that were made already.

    Classes that contacts have joined, or wait for, are kept as they are, and so are those that were changed by
    themselves.
    """

    series = ClassSeriesSerializer()
    changed = IntegerField(help_text="How many classes follow the change.", example=11)
    cancelled = IntegerField(help_text="How many classes were cancelled.", example=0)
    kept = IntegerField(help_text="How many classes stay as they are.", example=1)


class ClassFilterSet(FilterSet):
    """What narrows classes wherever they are listed; a page asks for days, the API for times."""

    service = UUIDFilter(field_name="service__uuid", help_text="Only classes of this service.")
    staff = UUIDFilter(field_name="staff__uuid", help_text="Only classes hosted by this staff member.")
    status = ChoiceFilter(choices=ClassSession.Status.choices, help_text="Only classes of this status.")


class ClassSessionFilterSet(ClassFilterSet):
    starts_after = DateTimeFilter(
        field_name="starts_at", lookup_expr="gte", help_text="Only classes that start then or later."
    )
    starts_before = DateTimeFilter(
        field_name="starts_at", lookup_expr="lte", help_text="Only classes that start then or earlier."
    )

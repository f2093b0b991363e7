"""Group classes and their participants in the workspace API, and the filters of their lists."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from config.api.fields import ChoiceField, DateTimeField, IntegerField, UUIDField
from config.api.filters import ChoiceFilter, DateTimeFilter, FilterSet, UUIDFilter
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField
from workspaces.catalogue.models import Service
from workspaces.catalogue.serializers import STAFF, staff_of_caller
from workspaces.catalogue.services import ServiceNotFound, StaffNotFound
from workspaces.classes.models import MOST_SEATS, ClassSession
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound

SERVICE = "e2ad9f7b-6d27-4c4c-9c70-0f0f8d1f6a11"
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

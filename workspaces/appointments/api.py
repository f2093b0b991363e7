"""Appointments, free times, working hours and times off."""

from typing import Any, Final, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request

from config.api.operations import list_response, object_response, operation, page_response
from config.api.requests import NothingMatches
from config.api.responses import json_response
from config.api.serializers import DeletedSerializer
from config.db import database_now
from config.errors import InvalidInput
from workspaces.appointments.filters import AppointmentFilterSet, AvailabilityFilterSet
from workspaces.appointments.models import Appointment, TimeOff
from workspaces.appointments.serializers import (
    AppointmentBodySerializer,
    AppointmentCancellationSerializer,
    AppointmentMoveSerializer,
    AppointmentSerializer,
    FreeTimeSerializer,
    RestOfFreeTimesSerializer,
    ShownFreeTime,
    TimeOffSerializer,
    WorkingHoursBodySerializer,
    WorkingHoursSerializer,
)
from workspaces.appointments.services.availability import first_free_times
from workspaces.appointments.services.booking import AppointmentNotFound, TimeTaken, book_appointment
from workspaces.appointments.services.hours import (
    TimeOffLimitReached,
    TimeOffNotFound,
    add_time_off,
    hours_of,
    remove_time_off,
    set_working_hours,
)
from workspaces.appointments.services.moves import (
    cancel_appointment,
    complete_appointment,
    confirm_appointment,
    miss_appointment,
    reschedule_appointment,
)
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import StaffNotFound
from workspaces.subaccounts.api.surface import WorkspaceViewSet

Row = TypeVar("Row", bound=Model)
# An answer ends when it names so many staff members, each at each time, which one person cannot reach. Its
# longest body has some 1.2 MB.
MOST_NAMED: Final = 10_000
NOT_OPEN = "The appointment is cancelled, completed or missed."
NOT_STARTED = f"{NOT_OPEN} Or it has not started yet."


class AvailabilityViewSet(WorkspaceViewSet):
    """At which times a service can be booked."""

    @operation(
        operation_id="listFreeTimes",
        summary="List the free times of a service, in their order",
        answer=list_response(FreeTimeSerializer, beside=RestOfFreeTimesSerializer),
        filters=AvailabilityFilterSet,
        errors={422: "A parameter is missing or malformed, or the range is longer than 31 days."},
    )
    def list(self, request: Request) -> HttpResponse:
        asked = AvailabilityFilterSet.values(self.parameters)
        for name in ("service", "from", "to"):
            if name not in asked:
                raise InvalidInput(f"The {name} parameter is required.", field=name)
        found = first_free_times(
            workspace=self.workspace,
            service=self._named(Service.objects.of(self.workspace), asked["service"]),
            staff=self._named(Staff.objects.of(self.workspace), asked["staff"]) if "staff" in asked else None,
            first=asked["from"],
            last=asked["to"],
            now=database_now(),
            most=MOST_NAMED,
        )
        times = FreeTimeSerializer([ShownFreeTime(one) for one in found.times], many=True)
        return json_response({"data": times.data, **RestOfFreeTimesSerializer(found).data})

    def _named(self, rows: "QuerySet[Row]", uuid: UUID) -> Row:
        found = rows.filter(uuid=uuid).first()
        if found is None:
            raise NothingMatches
        return found


class AppointmentViewSet(WorkspaceViewSet):
    """The appointments of contacts with staff members."""

    lookup_url_kwarg = "appointment"
    not_found = AppointmentNotFound

    def get_queryset(self) -> "QuerySet[Appointment]":
        return Appointment.objects.of(self.workspace).with_names().select_related("workspace")

    @operation(
        operation_id="listAppointments",
        summary="List the appointments in the order of their start",
        answer=page_response(AppointmentSerializer),
        filters=AppointmentFilterSet,
        errors={422: "A time is malformed."},
    )
    def list(self, request: Request) -> HttpResponse:
        return self.page_of(self.filtered(self.get_queryset()).order_by("starts_at", "id"), AppointmentSerializer)

    @operation(
        operation_id="bookAppointment",
        summary="Book an appointment at a free time",
        request=AppointmentBodySerializer,
        status=201,
        answer=object_response(AppointmentSerializer),
        errors={404: "No such service, contact or staff member.", 409: TimeTaken.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted: dict[str, Any] = self.validated(AppointmentBodySerializer).validated_data
        booked = book_appointment(
            workspace=self.workspace, now=database_now(), by=self.actor, source=Appointment.Source.API, **wanted
        )
        return self.answer(AppointmentSerializer(booked), status=201)

    @operation(
        operation_id="readAppointment", summary="Read an appointment", answer=object_response(AppointmentSerializer)
    )
    def retrieve(self, request: Request, appointment: UUID | None) -> HttpResponse:
        return self.answer(AppointmentSerializer(self.get_object()))

    @operation(
        operation_id="confirmAppointment",
        summary="Confirm a booked appointment",
        answer=object_response(AppointmentSerializer),
        errors={409: "The appointment is not booked, or confirmed already."},
    )
    def confirm(self, request: Request, appointment: UUID | None) -> HttpResponse:
        moved = confirm_appointment(appointment=self.get_object(), now=database_now(), by=self.actor)
        return self.answer(AppointmentSerializer(moved))

    @operation(
        operation_id="rescheduleAppointment",
        summary="Move an appointment to another free time, or to another staff member",
        request=AppointmentMoveSerializer,
        answer=object_response(AppointmentSerializer),
        errors={404: "No such appointment or staff member.", 409: f"{TimeTaken.message} {NOT_OPEN}"},
    )
    def reschedule(self, request: Request, appointment: UUID | None) -> HttpResponse:
        found = self.get_object()
        wanted: dict[str, Any] = self.validated(AppointmentMoveSerializer).validated_data
        moved = reschedule_appointment(appointment=found, now=database_now(), by=self.actor, **wanted)
        return self.answer(AppointmentSerializer(moved))

    @operation(
        operation_id="cancelAppointment",
        summary="Cancel an appointment, so that its time is free again",
        request=AppointmentCancellationSerializer,
        body_optional=True,
        answer=object_response(AppointmentSerializer),
        errors={409: NOT_OPEN},
    )
    def cancel(self, request: Request, appointment: UUID | None) -> HttpResponse:
        found = self.get_object()
        reason = self.validated(AppointmentCancellationSerializer).validated_data["reason"]
        moved = cancel_appointment(appointment=found, now=database_now(), by=self.actor, reason=reason)
        return self.answer(AppointmentSerializer(moved))

    @operation(
        operation_id="completeAppointment",
        summary="Say that an appointment took place",
        answer=object_response(AppointmentSerializer),
        errors={409: NOT_STARTED},
    )
    def complete(self, request: Request, appointment: UUID | None) -> HttpResponse:
        moved = complete_appointment(appointment=self.get_object(), now=database_now(), by=self.actor)
        return self.answer(AppointmentSerializer(moved))

    @operation(
        operation_id="missAppointment",
        summary="Say that the contact did not come",
        answer=object_response(AppointmentSerializer),
        errors={409: NOT_STARTED},
    )
    def miss(self, request: Request, appointment: UUID | None) -> HttpResponse:
        moved = miss_appointment(appointment=self.get_object(), now=database_now(), by=self.actor)
        return self.answer(AppointmentSerializer(moved))


class StaffTimeViewSet(WorkspaceViewSet):
    """What concerns the working time of one staff member."""

    def get_staff(self) -> Staff:
        """Find the staff member whom the path names."""
        rows = Staff.objects.of(self.workspace).select_related("workspace")
        return self.find(rows, self.kwargs["staff"], missing=StaffNotFound)


class WorkingHoursViewSet(StaffTimeViewSet):
    """When a staff member works."""

    @operation(
        operation_id="readWorkingHours",
        summary="Read when a staff member works",
        answer=object_response(WorkingHoursSerializer),
    )
    def retrieve(self, request: Request, staff: UUID | None) -> HttpResponse:
        return self.answer(WorkingHoursSerializer(hours_of(self.get_staff())))

    @operation(
        operation_id="replaceWorkingHours",
        summary="Replace when a staff member works",
        request=WorkingHoursBodySerializer,
        answer=object_response(WorkingHoursSerializer),
    )
    def update(self, request: Request, staff: UUID | None) -> HttpResponse:
        found = self.get_staff()
        wanted: dict[str, Any] = self.validated(WorkingHoursBodySerializer).validated_data
        hours = set_working_hours(
            staff=found,
            timezone=wanted.get("timezone", ""),
            weekly=wanted["weekly"],
            exceptions={one["date"]: one["intervals"] for one in wanted["exceptions"]},
            now=database_now(),
            by=self.actor,
        )
        return self.answer(WorkingHoursSerializer(hours))


class TimeOffViewSet(StaffTimeViewSet):
    """Times in which a staff member takes no appointments."""

    lookup_url_kwarg = "time_off"
    not_found = TimeOffNotFound

    def get_queryset(self) -> "QuerySet[TimeOff]":
        return TimeOff.objects.filter(staff=self.get_staff()).select_related("staff__workspace")

    @operation(
        operation_id="listTimesOff",
        summary="List a staff member's times off, those that end last first",
        answer=page_response(TimeOffSerializer),
    )
    def list(self, request: Request, staff: UUID | None) -> HttpResponse:
        return self.page_of(self.get_queryset().order_by("-ends_at", "-id"), TimeOffSerializer)

    @operation(
        operation_id="addTimeOff",
        summary="Add a time off; appointments in it stay",
        request=TimeOffSerializer,
        status=201,
        answer=object_response(TimeOffSerializer),
        errors={403: TimeOffLimitReached.message},
        idempotent=True,
    )
    def create(self, request: Request, staff: UUID | None) -> HttpResponse:
        found = self.get_staff()
        wanted: dict[str, Any] = self.validated(TimeOffSerializer).validated_data
        added = add_time_off(staff=found, now=database_now(), by=self.actor, **wanted)
        return self.answer(TimeOffSerializer(added), status=201)

    @operation(
        operation_id="removeTimeOff",
        summary="Remove a time off",
        answer=object_response(DeletedSerializer),
        errors={404: "No such staff member, or no such time off."},
    )
    def destroy(self, request: Request, staff: UUID | None, time_off: UUID | None) -> HttpResponse:
        remove_time_off(time_off=self.get_object(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))


MOVES = ("confirm", "reschedule", "cancel", "complete", "miss")
urlpatterns = [
    path("availability", AvailabilityViewSet.as_view({"get": "list"}), name="availability-list"),
    path("appointments", AppointmentViewSet.as_view({"get": "list", "post": "create"}), name="appointments-list"),
    path("appointments/<id:appointment>", AppointmentViewSet.as_view({"get": "retrieve"}), name="appointments-detail"),
    *(
        path(
            f"appointments/<id:appointment>/{move}",
            AppointmentViewSet.as_view({"post": move}),
            name=f"appointments-{move}",
        )
        for move in MOVES
    ),
    path(
        "staff/<id:staff>/working-hours",
        WorkingHoursViewSet.as_view({"get": "retrieve", "put": "update"}),
        name="staff-working-hours",
    ),
    path(
        "staff/<id:staff>/time-off",
        TimeOffViewSet.as_view({"get": "list", "post": "create"}),
        name="staff-time-off-list",
    ),
    path(
        "staff/<id:staff>/time-off/<id:time_off>",
        TimeOffViewSet.as_view({"delete": "destroy"}),
        name="staff-time-off-detail",
    ),
]

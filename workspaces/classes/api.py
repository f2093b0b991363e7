"""Group classes, who takes part in them and who waits, and series of classes."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from config.api.operations import object_response, operation, page_response
from config.api.serializers import DeletedSerializer
from workspaces.classes.models import ClassSeries, ClassSession, Participant, WaitingListEntry
from workspaces.classes.serializers import (
    ClassChangesSerializer,
    ClassSeriesBodySerializer,
    ClassSeriesChangesSerializer,
    ClassSeriesOutcomeSerializer,
    ClassSeriesSerializer,
    ClassSessionBodySerializer,
    ClassSessionFilterSet,
    ClassSessionSerializer,
    ParticipantBodySerializer,
    ParticipantSerializer,
    WaitingListEntrySerializer,
)
from workspaces.classes.services import (
    ClassNotFound,
    ClassSeriesNotFound,
    ParticipantNotFound,
    WaitingListEntryNotFound,
    add_participant,
    cancel_class,
    change_class,
    change_series,
    create_series,
    end_series,
    join_waiting_list,
    leave_waiting_list,
    remove_participant,
    schedule_class,
)
from workspaces.classes.services.series import ClassSeriesLimitReached, today_of
from workspaces.contacts.models import Contact
from workspaces.subaccounts.api.surface import WorkspaceViewSet

NOT_SCHEDULED = "The class is cancelled or completed."
HOST_BUSY = "The host is busy at this time."
NOT_THERE = "No such service, or no such staff member."
ENDED = "The series has ended."


class ClassSessionViewSet(WorkspaceViewSet):
    """Group classes with their seats."""

    lookup_url_kwarg = "session"
    not_found = ClassNotFound

    def get_queryset(self) -> "QuerySet[ClassSession]":
        return ClassSession.objects.of(self.workspace).with_names()

    @operation(
        operation_id="listClasses",
        summary="List the classes in the order of their start",
        answer=page_response(ClassSessionSerializer),
        filters=ClassSessionFilterSet,
        errors={422: "A time is malformed."},
    )
    def list(self, request: Request) -> HttpResponse:
        rows = self.filtered(self.get_queryset())
        return self.page_of(rows.order_by("starts_at", "id"), ClassSessionSerializer)

    @operation(
        operation_id="scheduleClass",
        summary="Schedule a class",
        request=ClassSessionBodySerializer,
        status=201,
        answer=object_response(ClassSessionSerializer),
        errors={404: NOT_THERE, 409: HOST_BUSY},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted: dict[str, Any] = self.validated(ClassSessionBodySerializer).validated_data
        session = schedule_class(workspace=self.workspace, now=timezone.now(), by=self.actor, **wanted)
        return self.answer(ClassSessionSerializer(session), status=201)

    @operation(operation_id="readClass", summary="Read a class", answer=object_response(ClassSessionSerializer))
    def retrieve(self, request: Request, session: UUID | None) -> HttpResponse:
        return self.answer(ClassSessionSerializer(self.get_object()))

    @operation(
        operation_id="changeClass",
        summary="Change a class; its series does not change it any more",
        request=ClassChangesSerializer,
        answer=object_response(ClassSessionSerializer),
        errors={404: "No such class, or no such staff member.", 409: f"{NOT_SCHEDULED} Or: {HOST_BUSY}"},
    )
    def partial_update(self, request: Request, session: UUID | None) -> HttpResponse:
        found = self.get_object()
        found.workspace = self.workspace
        changes = self.validated(ClassChangesSerializer, partial=True).changes
        changed = change_class(session=found, now=timezone.now(), by=self.actor, **changes)
        return self.answer(ClassSessionSerializer(changed))

    @operation(
        operation_id="cancelClass",
        summary="Cancel a class; a cancelled one stays as it is",
        answer=object_response(ClassSessionSerializer),
        errors={409: "The class is completed."},
    )
    def cancel(self, request: Request, session: UUID | None) -> HttpResponse:
        found = self.get_object()
        found.workspace = self.workspace
        cancelled = cancel_class(session=found, now=timezone.now(), by=self.actor)
        return self.answer(ClassSessionSerializer(cancelled))


class ClassPartViewSet(WorkspaceViewSet):
    """The contacts of one class."""

    lookup_url_kwarg = "contact"

    def get_class(self) -> ClassSession:
        """Find the class that the path names."""
        rows = ClassSession.objects.of(self.workspace).with_names()
        found = self.find(rows, self.kwargs["session"], missing=ClassNotFound)
        found.workspace = self.workspace
        return found


class ParticipantViewSet(ClassPartViewSet):
    """Who has a seat in a class."""

    not_found = ParticipantNotFound

    def get_queryset(self) -> "QuerySet[Participant]":
        return Participant.objects.filter(session=self.get_class()).select_related("contact")

    @operation(
        operation_id="listParticipants",
        summary="List the participants of a class in the order in which they came",
        answer=page_response(ParticipantSerializer),
    )
    def list(self, request: Request, session: UUID | None) -> HttpResponse:
        return self.page_of(self.get_queryset().order_by("id"), ParticipantSerializer)

    @operation(
        operation_id="addParticipant",
        summary="Give a contact a seat; one who has a seat keeps it (200)",
        request=ParticipantBodySerializer,
        status=201,
        also={200: object_response(ParticipantSerializer)},
        answer=object_response(ParticipantSerializer),
        errors={404: "No such class, or no such contact.", 409: f"The class is full. {NOT_SCHEDULED}"},
        idempotent=True,
    )
    def create(self, request: Request, session: UUID | None) -> HttpResponse:
        found = self.get_class()
        contact = self.validated(ParticipantBodySerializer).validated_data["contact"]
        participant, is_new = add_participant(session=found, contact=contact, now=timezone.now())
        return self.answer(ParticipantSerializer(participant), status=201 if is_new else 200)

    @operation(
        operation_id="removeParticipant",
        summary="Free the seat of a contact",
        answer=object_response(DeletedSerializer),
        errors={404: "No such class, or no such participant.", 409: NOT_SCHEDULED},
    )
    def destroy(self, request: Request, session: UUID | None, contact: UUID | None) -> HttpResponse:
        found = self.get_class()
        who = self.find(Contact.objects.of(self.workspace), contact, missing=ParticipantNotFound)
        remove_participant(session=found, contact=who, now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))


class WaitingListViewSet(ClassPartViewSet):
    """Who waits for a seat in a full class."""

    not_found = WaitingListEntryNotFound

    def get_queryset(self) -> "QuerySet[WaitingListEntry]":
        return WaitingListEntry.objects.filter(session=self.get_class()).select_related("contact")

    @operation(
        operation_id="listWaitingContacts",
        summary="List the waiting list of a class in its order",
        answer=page_response(WaitingListEntrySerializer),
    )
    def list(self, request: Request, session: UUID | None) -> HttpResponse:
        return self.page_of(self.get_queryset().order_by("id"), WaitingListEntrySerializer)

    @operation(
        operation_id="joinWaitingList",
        summary="Put a contact at the end of a full class's waiting list; one who waits keeps the place (200)",
        request=ParticipantBodySerializer,
        status=201,
        also={200: object_response(WaitingListEntrySerializer)},
        answer=object_response(WaitingListEntrySerializer),
        errors={
            404: "No such class, or no such contact.",
            409: f"The class has free seats, the contact has a seat, or the list is full. {NOT_SCHEDULED}",
        },
        idempotent=True,
    )
    def create(self, request: Request, session: UUID | None) -> HttpResponse:
        found = self.get_class()
        contact = self.validated(ParticipantBodySerializer).validated_data["contact"]
        entry, is_new = join_waiting_list(session=found, contact=contact, now=timezone.now())
        return self.answer(WaitingListEntrySerializer(entry), status=201 if is_new else 200)

    @operation(
        operation_id="leaveWaitingList",
        summary="Take a contact from the waiting list",
        answer=object_response(DeletedSerializer),
        errors={404: "No such class, or the contact does not wait."},
    )
    def destroy(self, request: Request, session: UUID | None, contact: UUID | None) -> HttpResponse:
        found = self.get_class()
        who = self.find(Contact.objects.of(self.workspace), contact, missing=WaitingListEntryNotFound)
        leave_waiting_list(session=found, contact=who, by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))


class ClassSeriesViewSet(WorkspaceViewSet):
    """Classes that take place again and again."""

    lookup_url_kwarg = "series"
    not_found = ClassSeriesNotFound

    def get_queryset(self) -> "QuerySet[ClassSeries]":
        return ClassSeries.objects.of(self.workspace).with_names().with_left_out()

    @operation(
        operation_id="listClassSeries",
        summary="List the class series, newest first",
        answer=page_response(ClassSeriesSerializer),
    )
    def list(self, request: Request) -> HttpResponse:
        return self.page_of(self.get_queryset().order_by("-created_at", "-id"), ClassSeriesSerializer)

    @operation(
        operation_id="createClassSeries",
        summary="Create a class series; its classes are made a moment later, up to 90 days ahead",
        request=ClassSeriesBodySerializer,
        status=201,
        answer=object_response(ClassSeriesSerializer),
        errors={403: ClassSeriesLimitReached.message, 404: NOT_THERE},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted: dict[str, Any] = self.validated(ClassSeriesBodySerializer).validated_data
        wanted.setdefault("timezone", self.workspace.timezone)
        series = create_series(workspace=self.workspace, now=timezone.now(), by=self.actor, **wanted)
        return self.answer(ClassSeriesSerializer(series), status=201)

    @operation(
        operation_id="readClassSeries", summary="Read a class series", answer=object_response(ClassSeriesSerializer)
    )
    def retrieve(self, request: Request, series: UUID | None) -> HttpResponse:
        return self.answer(ClassSeriesSerializer(self.get_object()))

    @operation(
        operation_id="changeClassSeries",
        summary="Change a class series from a date on",
        request=ClassSeriesChangesSerializer,
        answer=object_response(ClassSeriesOutcomeSerializer),
        errors={404: "No such class series, or no such staff member.", 409: ENDED},
    )
    def partial_update(self, request: Request, series: UUID | None) -> HttpResponse:
        found, now = self.get_object(), timezone.now()
        changes = self.validated(ClassSeriesChangesSerializer, partial=True).changes
        first = changes.pop("from", None) or today_of(found, now)
        outcome = change_series(series=found, first=first, now=now, by=self.actor, **changes)
        return self.answer(ClassSeriesOutcomeSerializer(outcome))

    @operation(
        operation_id="endClassSeries",
        summary="End a class series; coming classes that nobody has joined are cancelled",
        answer=object_response(ClassSeriesOutcomeSerializer),
        errors={409: ENDED},
    )
    def destroy(self, request: Request, series: UUID | None) -> HttpResponse:
        outcome = end_series(series=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(ClassSeriesOutcomeSerializer(outcome))


urlpatterns = [
    path("classes", ClassSessionViewSet.as_view({"get": "list", "post": "create"}), name="classes-list"),
    path("classes/series", ClassSeriesViewSet.as_view({"get": "list", "post": "create"}), name="class-series-list"),
    path(
        "classes/series/<id:series>",
        ClassSeriesViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="class-series-detail",
    ),
    path(
        "classes/<id:session>",
        ClassSessionViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
        name="classes-detail",
    ),
    path("classes/<id:session>/cancel", ClassSessionViewSet.as_view({"post": "cancel"}), name="classes-cancel"),
    path(
        "classes/<id:session>/participants",
        ParticipantViewSet.as_view({"get": "list", "post": "create"}),
        name="classes-participants-list",
    ),
    path(
        "classes/<id:session>/participants/<id:contact>",
        ParticipantViewSet.as_view({"delete": "destroy"}),
        name="classes-participants-detail",
    ),
    path(
        "classes/<id:session>/waiting-list",
        WaitingListViewSet.as_view({"get": "list", "post": "create"}),
        name="classes-waiting-list",
    ),
    path(
        "classes/<id:session>/waiting-list/<id:contact>",
        WaitingListViewSet.as_view({"delete": "destroy"}),
        name="classes-waiting-list-detail",
    ),
]

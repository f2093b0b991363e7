"""Group classes and who takes part in them."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from config.api.operations import object_response, operation, page_response
from config.api.serializers import DeletedSerializer
from workspaces.classes.models import ClassSession, Participant
from workspaces.classes.serializers import (
    ClassSessionBodySerializer,
    ClassSessionFilterSet,
    ClassSessionSerializer,
    ParticipantBodySerializer,
    ParticipantSerializer,
)
from workspaces.classes.services import (
    ClassNotFound,
    ParticipantNotFound,
    add_participant,
    cancel_class,
    remove_participant,
    schedule_class,
)
from workspaces.contacts.models import Contact
from workspaces.subaccounts.api.surface import WorkspaceViewSet

NOT_SCHEDULED = "The class is cancelled or completed."


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
        errors={404: "No such service, or no such staff member."},
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


class ParticipantViewSet(WorkspaceViewSet):
    """Who has a seat in a class."""

    lookup_url_kwarg = "contact"
    not_found = ParticipantNotFound

    def get_class(self) -> ClassSession:
        """Find the class that the path names."""
        rows = ClassSession.objects.of(self.workspace).with_names()
        found = self.find(rows, self.kwargs["session"], missing=ClassNotFound)
        found.workspace = self.workspace
        return found

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
        remove_participant(session=found, contact=who, now=timezone.now())
        return self.answer(DeletedSerializer({"deleted": True}))


urlpatterns = [
    path("classes", ClassSessionViewSet.as_view({"get": "list", "post": "create"}), name="classes-list"),
    path("classes/<id:session>", ClassSessionViewSet.as_view({"get": "retrieve"}), name="classes-detail"),
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
]

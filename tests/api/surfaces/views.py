"""Endpoints of the test surfaces: a list, a thing, an echo, faults on demand, and work that must be done once."""

import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, ValidationError
from django.db import DataError, IntegrityError, connection
from django.db.utils import ConnectionHandler
from django.http import Http404, HttpResponse, UnreadablePostError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSetMixin

from config.api.operations import list_response, object_response, operation, page_response
from config.api.responses import json_response
from config.errors import Conflict, FeatureDisabled, InvalidInput, NotFound
from tests.api.surfaces.serializers import ThingFilterSet, ThingSerializer, ThingWriteSerializer
from tests.api.surfaces.surfaces import AgencyTestSurface, WorkspaceTestSurface, surface_state

MANY = 53


class ThingIsMissing(NotFound):
    message = "Thing not found."


class AgencyThings(AgencyTestSurface):
    @operation(
        operation_id="listThings", summary="List things", answer=page_response(ThingSerializer), filters=ThingFilterSet
    )
    def get(self, request: Request) -> HttpResponse:
        self.filtered(Group.objects.all())
        everything = range(1, MANY + 1)
        page = everything[self.page.offset : self.page.offset + self.page.size]
        return self.paged(ThingSerializer([{"number": number} for number in page], many=True), MANY)

    @operation(
        operation_id="createThing",
        summary="Create a thing",
        request=ThingWriteSerializer,
        answer=object_response(ThingSerializer),
        status=201,
        idempotent=True,
        request_example={"name": "Bakery"},
        answer_example={"data": {"number": 1}},
    )
    def post(self, request: Request) -> Response:
        serializer = self.validated(ThingWriteSerializer)
        return Response({"data": {**serializer.validated_data, "sent": sorted(serializer.sent)}}, status=201)


class AgencyThing(AgencyTestSurface):
    @operation(operation_id="readThing", summary="Read a thing", answer=object_response(ThingSerializer))
    def get(self, request: Request, thing: UUID | None) -> Response:
        if thing is None:
            raise ThingIsMissing
        return Response({"data": {"uuid": thing}}, headers={"X-Own": "kept"})

    @operation(
        operation_id="changeThing",
        summary="Change a thing",
        request=ThingWriteSerializer,
        answer=object_response(ThingSerializer),
    )
    def patch(self, request: Request, thing: UUID | None) -> Response:
        return Response({"data": self.validated(ThingWriteSerializer, partial=True).changes})


class WorkspaceThings(WorkspaceTestSurface):
    @operation(operation_id="listThings", summary="List things", answer=page_response(ThingSerializer))
    def get(self, request: Request) -> HttpResponse:
        return self.paged(ThingSerializer([], many=True), MANY)


class Echo(AgencyTestSurface):
    """Gives back what was read."""

    @operation(
        operation_id="echo",
        summary="Echo",
        body_optional=False,
        answer=object_response(ThingSerializer),
        errors={409: "Never, in truth."},
    )
    def post(self, request: Request) -> HttpResponse:
        return json_response({"data": request.data})

    @operation(
        operation_id="echoAgain", summary="Echo again", body_optional=False, answer=object_response(ThingSerializer)
    )
    def put(self, request: Request) -> HttpResponse:
        return self.post(request)

    @operation(
        operation_id="listEchoes", summary="List echoes", answer=list_response(ThingSerializer), filters=ThingFilterSet
    )
    def get(self, request: Request) -> HttpResponse:
        self.filtered(Group.objects.all())
        return json_response({"data": [{"number": 1}]})


class Actions(ViewSetMixin, AgencyTestSurface):
    """A viewset with one action whose body may be empty."""

    @operation(operation_id="suspend", summary="Suspend", answer=object_response(ThingSerializer))
    def suspend(self, request: Request) -> Response:
        return Response({"data": request.data})


def _recurse() -> None:
    _recurse()


def _lock_wait() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '10ms'")
        cursor.execute("LOCK TABLE auth_group IN ACCESS EXCLUSIVE MODE")


def _database_away() -> None:
    nowhere = {**connection.settings_dict, "HOST": "/nonexistent"}
    ConnectionHandler({"default": nowhere})["default"].cursor()


def _raise(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def _break_a_constraint() -> None:
    Group.objects.create(name="canary-of-a-row")
    Group.objects.create(name="canary-of-a-row")


FAULTS: dict[str, Callable[[], Any]] = {
    "bug": lambda: FAULTS["a canary of the fault"],
    "missing": _raise(ThingIsMissing()),
    "conflict": _raise(Conflict("Not now.")),
    "unavailable": _raise(FeatureDisabled("Switched off.")),
    "invalid": _raise(InvalidInput("Too many things.", field="things")),
    "http404": _raise(Http404("No Model matches the given query.")),
    "denied": _raise(PermissionDenied("canary")),
    "bad": _raise(BadRequest("canary")),
    "unreadable": _raise(UnreadablePostError("canary")),
    "too-big": _raise(RequestDataTooBig("canary")),
    "model": _raise(ValidationError({"name": ["Taken."], "__all__": ["Odd."]})),
    "integrity": _break_a_constraint,
    "bare-integrity": _raise(IntegrityError("canary")),
    "data": _raise(DataError("canary")),
    "recursion": _recurse,
    "unicode": lambda: "\ud800".encode(),
    "lock": _lock_wait,
    "away": _database_away,
}


class Faults(AgencyTestSurface):
    schema = None

    def get(self, request: Request, fault: str) -> Response:
        FAULTS[fault]()
        raise AssertionError


class Stray(APIView):
    """A view that forgot its surface."""

    schema = None

    def get(self, request: Request) -> Response:
        return Response({"data": "a secret"})


def prepare(view: Any) -> None:
    """Remember how many transactions were open, one in the other."""
    surface_state.prepared.append(len(connection.savepoint_ids))


class Prepared(AgencyTestSurface):
    """Makes a group after something was found out outside of any transaction."""

    schema = None

    @operation(
        operation_id="makePrepared",
        summary="Make prepared",
        answer=object_response(ThingSerializer),
        request=ThingWriteSerializer,
        idempotent=True,
        prepare=prepare,
    )
    def post(self, request: Request) -> HttpResponse:
        body: dict[str, Any] = dict(request.data)
        group = Group.objects.create(name=body["name"])
        return json_response({"data": {"number": group.pk, "name": group.name}}, status=201)


class Once(AgencyTestSurface):
    """Makes a group, slowly if asked to."""

    schema = None

    @operation(
        operation_id="makeOnce",
        summary="Make once",
        answer=object_response(ThingSerializer),
        request=ThingWriteSerializer,
        idempotent=True,
    )
    def post(self, request: Request) -> HttpResponse:
        body: dict[str, Any] = dict(request.data)
        if body.get("refuse"):
            raise InvalidInput("No such thing.", field="name")
        time.sleep(body.get("seconds", 0))
        group = Group.objects.create(name=body["name"])
        return json_response({"data": {"number": group.pk, "name": group.name}}, status=201)

    put = post

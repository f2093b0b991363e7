"""Broadcasts, whom they go to, and what would happen."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from broadcasts.api.serializers import (
    BroadcastChangesSerializer,
    BroadcastSerializer,
    NewBroadcastSerializer,
    RecipientSerializer,
    TestSerializer,
)
from broadcasts.filters import BroadcastFilterSet, RecipientFilterSet
from broadcasts.models import Broadcast
from broadcasts.services.editing.changing import change_broadcast, delete_broadcast
from broadcasts.services.editing.creating import create_broadcast
from broadcasts.services.editing.testing import send_test
from broadcasts.services.errors import BroadcastNotFound
from broadcasts.services.listing import joined, recipients_page, shown_broadcast, with_progress
from config.api.operations import many, one, operation, pages
from config.api.serializers import DeletedSerializer
from config.db import database_now
from workspaces.conversations.api.serializers import MessageSerializer
from workspaces.subaccounts.api.workspace.surface import WorkspaceViewSet

NAMED = "No such channel, segment, contact or source broadcast."


class BroadcastViewSet(WorkspaceViewSet):
    """Messages to many contacts."""

    lookup_url_kwarg = "broadcast"
    not_found = BroadcastNotFound

    def get_queryset(self) -> "QuerySet[Broadcast]":
        return joined(Broadcast.objects.of(self.workspace))

    @operation(
        operation_id="listBroadcasts",
        summary="List the broadcasts, newest first",
        answer=pages(BroadcastSerializer),
        filters=BroadcastFilterSet,
    )
    def list(self, request: Request) -> HttpResponse:
        rows, page = self.filtered(self.get_queryset()), self.page
        shown = with_progress(rows.order_by("-created_at", "-id")[page.offset : page.offset + page.size])
        return self.paged(BroadcastSerializer(shown, many=True), rows.count())

    @operation(
        operation_id="createBroadcast",
        summary="Create a broadcast: a draft, or scheduled at once",
        request=NewBroadcastSerializer,
        status=201,
        answer=one(BroadcastSerializer),
        errors={404: NAMED},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = self.validated(NewBroadcastSerializer).validated_data
        made = create_broadcast(workspace=self.workspace, now=database_now(), by=self.actor, **wanted)
        return self.answer(BroadcastSerializer(shown_broadcast(made)), status=201)

    @operation(operation_id="readBroadcast", summary="Read a broadcast", answer=one(BroadcastSerializer))
    def retrieve(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        [shown] = with_progress([self.get_object()], is_list=False)
        return self.answer(BroadcastSerializer(shown))

    @operation(
        operation_id="changeBroadcast",
        summary="Change a draft; what is left out stays, and it has to be approved anew",
        request=BroadcastChangesSerializer,
        answer=one(BroadcastSerializer),
        errors={404: NAMED, 409: "The broadcast is no draft."},
    )
    def partial_update(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(BroadcastChangesSerializer, partial=True).changes
        changes.pop("schedule", None)
        changed = change_broadcast(broadcast=found, now=timezone.now(), by=self.actor, **changes)
        return self.answer(BroadcastSerializer(shown_broadcast(changed)))

    @operation(
        operation_id="deleteBroadcast",
        summary="Delete a draft",
        answer=one(DeletedSerializer),
        errors={409: "The broadcast is no draft."},
    )
    def destroy(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        delete_broadcast(broadcast=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))


class BroadcastPartViewSet(WorkspaceViewSet):
    """Something of one broadcast, which the path names."""

    @property
    def broadcast(self) -> Broadcast:
        rows = joined(Broadcast.objects.of(self.workspace))
        return self.find(rows, self.kwargs["broadcast"], missing=BroadcastNotFound)


class RecipientViewSet(BroadcastPartViewSet):
    """Those whom a broadcast goes to, and what became of it."""

    @operation(
        operation_id="listBroadcastRecipients",
        summary="List the recipients of a broadcast, newest first",
        answer=pages(RecipientSerializer),
        filters=RecipientFilterSet,
    )
    def list(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        found, page = self.broadcast, self.page
        status = RecipientFilterSet.values(self.parameters).get("status")
        rows, total = recipients_page(found, status=status, offset=page.offset, size=page.size)
        return self.paged(RecipientSerializer(rows, many=True), total)


class BroadcastTestViewSet(BroadcastPartViewSet):
    """Tries a broadcast out on a few contacts."""

    @operation(
        operation_id="testBroadcast",
        summary="Send a broadcast to a few contacts now; none of its counts knows of it",
        request=TestSerializer,
        status=202,
        answer=many(MessageSerializer),
        errors={
            404: "No such broadcast or contact.",
            409: "A contact has opted out, cannot be reached there, or its 24-hour window is closed; or the channel is "
            "not connected.",
        },
        idempotent=True,
    )
    def create(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        found = self.broadcast
        contacts = self.validated(TestSerializer).validated_data["contacts"]
        sent = send_test(broadcast=found, contacts=contacts, now=timezone.now(), by=self.actor)
        return self.answer(MessageSerializer(sent, many=True), status=202)

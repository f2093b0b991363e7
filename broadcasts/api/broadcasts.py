"""The workspace API about broadcasts: the list, one broadcast, its recipients, its moves and previews."""

from collections.abc import Callable
from decimal import Decimal
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from broadcasts.api.serializers import (
    BroadcastChangesSerializer,
    BroadcastSerializer,
    NewBroadcastSerializer,
    RecipientSerializer,
    TestSerializer,
    TimingSerializer,
)
from broadcasts.models import Broadcast, Recipient
from broadcasts.services.editing import build_broadcast, change_broadcast, create_broadcast, delete_broadcast, send_test
from broadcasts.services.errors import BroadcastNotFound
from broadcasts.services.forecast import preview
from broadcasts.services.listing import joined, recipients_page, shown_broadcast, with_progress
from broadcasts.services.moving import approve_broadcast, cancel_broadcast, pause_broadcast, resume_broadcast
from broadcasts.services.scheduling import schedule_broadcast_at
from config.api.fields import DateTimeField, DecimalField, DictField, IntegerField, ListField
from config.api.filters import ChoiceFilter, FilterSet, UUIDFilter
from config.api.operations import list_response, object_response, operation, page_response
from config.api.serializers import DeletedSerializer, Serializer
from config.api.text_fields import CharField
from config.db import database_now
from workspaces.conversations.serializers import MessageSerializer
from workspaces.subaccounts.api.surface import WorkspaceViewSet
from workspaces.subaccounts.models import Workspace


class BroadcastFilterSet(FilterSet):
    status = ChoiceFilter(choices=Broadcast.Status.choices, help_text="Only broadcasts of this status, to the letter.")
    channel = UUIDFilter(field_name="channel__uuid", help_text="Only broadcasts on this channel.")


class RecipientFilterSet(FilterSet):
    status = ChoiceFilter(choices=Recipient.Status.choices, help_text="Only recipients of this status.")

    class Meta:
        model = Recipient
        fields = ()


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
        answer=page_response(BroadcastSerializer),
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
        answer=object_response(BroadcastSerializer),
        errors={404: NAMED},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = self.validated(NewBroadcastSerializer).validated_data
        made = create_broadcast(workspace=self.workspace, now=database_now(), by=self.actor, **wanted)
        return self.answer(BroadcastSerializer(shown_broadcast(made)), status=201)

    @operation(operation_id="readBroadcast", summary="Read a broadcast", answer=object_response(BroadcastSerializer))
    def retrieve(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        [shown] = with_progress([self.get_object()], is_list=False)
        return self.answer(BroadcastSerializer(shown))

    @operation(
        operation_id="changeBroadcast",
        summary="Change a draft; what is left out stays, and it has to be approved anew",
        request=BroadcastChangesSerializer,
        answer=object_response(BroadcastSerializer),
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
        answer=object_response(DeletedSerializer),
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
        answer=page_response(RecipientSerializer),
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
        answer=list_response(MessageSerializer),
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


class MoveViewSet(BroadcastPartViewSet):
    """A move of a broadcast; only scheduling reads a body."""

    def moved(self, service: Callable[..., Broadcast], **wanted: object) -> HttpResponse:
        done = service(broadcast=self.broadcast, now=database_now(), by=self.actor, **wanted)
        return self.answer(BroadcastSerializer(shown_broadcast(done)))


class ScheduleViewSet(MoveViewSet):
    """Has a draft sent at its time, or a scheduled one at another."""

    @operation(
        operation_id="scheduleBroadcast",
        summary="Have a draft sent at its time, or at once where it has none; or set another time for a scheduled one",
        request=TimingSerializer,
        body_optional=True,
        answer=object_response(BroadcastSerializer),
        errors={
            409: "The broadcast is no draft, and no time is named for a scheduled one, or it begins within a minute.",
            422: "The plan allows no more broadcasts this month, or the channel or the template can no longer send it.",
        },
        idempotent=True,
    )
    def create(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        return self.moved(schedule_broadcast_at, **self.validated(TimingSerializer).validated_data)


class ApproveViewSet(MoveViewSet):
    """Approves a broadcast that requires it."""

    @operation(
        operation_id="approveBroadcast",
        summary="Approve a broadcast that requires it",
        answer=object_response(BroadcastSerializer),
        errors={409: "The broadcast needs no approval, has it already, or is under way."},
        idempotent=True,
    )
    def create(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        return self.moved(approve_broadcast)


class PauseViewSet(MoveViewSet):
    """Holds back what has not been sent."""

    @operation(
        operation_id="pauseBroadcast",
        summary="Hold back what has not been sent yet",
        answer=object_response(BroadcastSerializer),
        errors={409: "The broadcast is not being sent."},
        idempotent=True,
    )
    def create(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        return self.moved(pause_broadcast)


class ResumeViewSet(MoveViewSet):
    """Goes on with a paused broadcast."""

    @operation(
        operation_id="resumeBroadcast",
        summary="Go on with a paused broadcast",
        answer=object_response(BroadcastSerializer),
        errors={409: "The broadcast is not paused, or its channel is not connected."},
        idempotent=True,
    )
    def create(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        return self.moved(resume_broadcast)


class CancelViewSet(MoveViewSet):
    """Ends a broadcast."""

    @operation(
        operation_id="cancelBroadcast",
        summary="End a broadcast; what has not been sent yet is skipped",
        answer=object_response(BroadcastSerializer),
        errors={409: "The broadcast is a draft, or has ended."},
        idempotent=True,
    )
    def create(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        return self.moved(cancel_broadcast)


class PreviewZoneSerializer(Serializer):
    """Recipients in one time zone."""

    timezone = CharField(example="Europe/Berlin")
    count = IntegerField(example=640)
    sends_at = DateTimeField(help_text="When it is sent there.")


class PreviewWaveSerializer(Serializer):
    """Recipients that are due at one moment."""

    at = DateTimeField()
    count = IntegerField(example=640)


class CostSerializer(Serializer):
    """What it costs if everything is delivered and billed."""

    currency = CharField(example="EUR")
    at_most = DecimalField(min_value=Decimal(0), max_value=Decimal(10**12), decimal_places=6, example=61.2)


class CountingSerializer(Serializer):
    """How far a very large audience is counted."""

    walked = IntegerField(help_text="So many contacts were looked at.", example=250_000)
    total = IntegerField(example=1_000_000)


class PreviewSerializer(Serializer):
    """What would happen if a broadcast were sent now, or at its time."""

    recipients_count = IntegerField(help_text="The whole audience, those who would be skipped among it.", example=1_000)
    skipped = DictField(help_text="How many would not, by the reason.", example={"opted_out": 12, "no_address": 8})
    zones = PreviewZoneSerializer(many=True, help_text="Empty where all are sent to at one moment.")
    waves = PreviewWaveSerializer(many=True)
    held_count = IntegerField(
        help_text="How many would have to wait for room in the number's messaging limit.", example=0
    )
    last_wave_at = DateTimeField(allow_null=True, help_text="When the last of them are expected to be sent to.")
    cost = CostSerializer(allow_null=True, help_text="Null where no rate card is known.")
    sample = ListField(
        child=CharField(multiline=True),
        help_text="The text as some of the recipients would read it.",
        example=["Hello Ada, the sale begins."],
    )
    counting = CountingSerializer(
        allow_null=True,
        help_text="Null where everybody is counted. A very large audience is counted in the background: all numbers "
        "are of those who were looked at so far, and the same call tells more a moment later.",
    )


class PreviewViewSet(WorkspaceViewSet):
    """Looks ahead with a body as for creation."""

    @operation(
        operation_id="previewNewBroadcast",
        summary="See whom a broadcast would go to, when, and at what cost; nothing is made",
        request=NewBroadcastSerializer,
        answer=object_response(PreviewSerializer),
        errors={404: NAMED},
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = self.validated(NewBroadcastSerializer).validated_data
        del wanted["schedule"]
        # A request authenticated by a key loads only a few of its workspace's columns.
        workspace = Workspace.objects.get(pk=self.workspace.pk)
        return self.answer(PreviewSerializer(preview(workspace, build_broadcast(workspace=workspace, **wanted))))


class BroadcastPreviewViewSet(BroadcastPartViewSet):
    """Looks ahead with a broadcast that is there."""

    @operation(
        operation_id="previewBroadcast",
        summary="See whom a broadcast goes to, when, and at what cost",
        answer=object_response(PreviewSerializer),
        errors={422: "The channel or the template can no longer send it."},
    )
    def create(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        found = self.broadcast
        return self.answer(PreviewSerializer(preview(found.workspace, found)))


urlpatterns = [
    path("broadcasts", BroadcastViewSet.as_view({"get": "list", "post": "create"}), name="broadcasts-list"),
    path("broadcasts/preview", PreviewViewSet.as_view({"post": "create"}), name="broadcasts-preview-list"),
    path(
        "broadcasts/<id:broadcast>",
        BroadcastViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="broadcasts-detail",
    ),
    path(
        "broadcasts/<id:broadcast>/recipients",
        RecipientViewSet.as_view({"get": "list"}),
        name="broadcasts-recipients-list",
    ),
    path(
        "broadcasts/<id:broadcast>/test", BroadcastTestViewSet.as_view({"post": "create"}), name="broadcasts-test-list"
    ),
    path(
        "broadcasts/<id:broadcast>/schedule",
        ScheduleViewSet.as_view({"post": "create"}),
        name="broadcasts-schedule-list",
    ),
    path(
        "broadcasts/<id:broadcast>/approve", ApproveViewSet.as_view({"post": "create"}), name="broadcasts-approve-list"
    ),
    path("broadcasts/<id:broadcast>/pause", PauseViewSet.as_view({"post": "create"}), name="broadcasts-pause-list"),
    path("broadcasts/<id:broadcast>/resume", ResumeViewSet.as_view({"post": "create"}), name="broadcasts-resume-list"),
    path("broadcasts/<id:broadcast>/cancel", CancelViewSet.as_view({"post": "create"}), name="broadcasts-cancel-list"),
    path(
        "broadcasts/<id:broadcast>/preview",
        BroadcastPreviewViewSet.as_view({"post": "create"}),
        name="broadcasts-broadcast-preview-list",
    ),
]

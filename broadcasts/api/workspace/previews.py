"""Endpoints that say what a broadcast would do if it were sent; they create nothing."""

from decimal import Decimal
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from broadcasts.api.serializers import NewBroadcastSerializer
from broadcasts.api.workspace.views import NAMED, BroadcastPartViewSet
from broadcasts.services.editing.building import build_broadcast
from broadcasts.services.forecast import preview
from config.api.fields import CharField, DateTimeField, DecimalField, DictField, IntegerField, ListField
from config.api.operations import one, operation
from config.api.serializers import Serializer
from workspaces.subaccounts.api.workspace.surface import WorkspaceViewSet
from workspaces.subaccounts.models import Workspace


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
        answer=one(PreviewSerializer),
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
        answer=one(PreviewSerializer),
        errors={422: "The channel or the template can no longer send it."},
    )
    def create(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        found = self.broadcast
        return self.answer(PreviewSerializer(preview(found.workspace, found)))

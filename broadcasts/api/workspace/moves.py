"""Endpoints that move a broadcast from state to state."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from broadcasts.api.serializers import BroadcastSerializer, TimingSerializer
from broadcasts.api.workspace.views import BroadcastPartViewSet
from broadcasts.services.listing import shown_broadcast
from broadcasts.services.moving import (
    approve_broadcast,
    cancel_broadcast,
    pause_broadcast,
    resume_broadcast,
)
from broadcasts.services.scheduling import schedule_broadcast_at
from config.api.operations import one, operation
from config.db import database_now


class MoveViewSet(BroadcastPartViewSet):
    """A move of a broadcast; only scheduling reads a body."""

    def moved(self, service: Any, **wanted: Any) -> HttpResponse:
        done = service(broadcast=self.broadcast, now=database_now(), by=self.actor, **wanted)
        return self.answer(BroadcastSerializer(shown_broadcast(done)))


class ScheduleViewSet(MoveViewSet):
    """Has a draft sent at its time, or a scheduled one at another."""

    @operation(
        operation_id="scheduleBroadcast",
        summary="Have a draft sent at its time, or at once where it has none; or set another time for a scheduled one",
        request=TimingSerializer,
        body_optional=True,
        answer=one(BroadcastSerializer),
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
        answer=one(BroadcastSerializer),
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
        answer=one(BroadcastSerializer),
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
        answer=one(BroadcastSerializer),
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
        answer=one(BroadcastSerializer),
        errors={409: "The broadcast is a draft, or has ended."},
        idempotent=True,
    )
    def create(self, request: Request, broadcast: UUID | None) -> HttpResponse:
        return self.moved(cancel_broadcast)

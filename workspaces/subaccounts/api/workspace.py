"""The workspace API about the workspace itself and its channels."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request

from config.api.fields import ChoiceField, DateTimeField, IntegerField, ListField, UUIDField
from config.api.operations import object_response, operation, page_response
from config.api.serializers import Serializer
from config.api.text_fields import CharField, TimezoneField
from workspaces.subaccounts.api.serializers import ChannelSerializer
from workspaces.subaccounts.api.surface import WorkspaceViewSet
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.models.channels import with_used_allowance
from workspaces.subaccounts.models.workspaces import DAYS, BusinessType
from workspaces.subaccounts.services import ChannelNotFound, change_workspace
from workspaces.subaccounts.services.money import CURRENCIES
from workspaces.subaccounts.services.settings import MOST_INTERVALS, check_days

LONGEST_NAME = 120
LONGEST_TEXT = 500
LONGEST_PHONE = 40
OPEN = [["09:00", "13:00"], ["14:00", "17:00"]]
WEEK = {day: [] if day in DAYS[5:] else OPEN for day in DAYS}


class OpeningHoursSerializer(Serializer):
    """Pairs of times for each day, by the workspace's clock, from `00:00` to `24:00`; a day without pairs is closed."""

    def get_fields(self) -> dict[str, Any]:
        return {day: self._day(WEEK[day]) for day in DAYS}

    def to_internal_value(self, data: object) -> object:
        """Refuse unknown days: to leave one out would close it."""
        if isinstance(data, dict):
            check_days(data)
        return super().to_internal_value(data)

    def _day(self, example: list[list[str]]) -> ListField:
        interval = ListField(child=CharField(max_length=5, example="09:00"), min_length=2, max_length=2)
        return ListField(child=interval, max_length=MOST_INTERVALS, required=False, example=example)


class WorkspaceSerializer(Serializer):
    """The workspace of the key."""

    id = UUIDField(source="uuid", example="8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10")
    name = CharField(example="Corner Salon")
    timezone = TimezoneField(example="Europe/Berlin")
    business_type = ChoiceField(BusinessType.choices, allow_null=True, example=BusinessType.SALON_SPA.value)
    currency = ChoiceField(CURRENCIES, example="EUR")
    opening_hours = OpeningHoursSerializer(source="weekly_hours")
    address = CharField(blank_as_null=True, multiline=True, example="1 High Street, 10115 Berlin")
    website = CharField(blank_as_null=True, example="https://corner-salon.example")
    phone = CharField(blank_as_null=True, example="+49 30 1234567")
    created_at = DateTimeField()


class WorkspaceChannelSerializer(ChannelSerializer):
    """A connected number, Page or account; what follows `connected_at` is null where it is not WhatsApp's."""

    messaging_limit = IntegerField(
        allow_null=True, help_text="How many people may be written to first in 24 hours. Null: no limit.", example=1_000
    )
    quality = ChoiceField(Channel.Quality.choices, source="known_quality", allow_null=True)
    remaining_allowance = IntegerField(
        allow_null=True, help_text="How many of them are left. Null where there is no limit.", example=1_000
    )


class WorkspaceChangesSerializer(Serializer):
    """What can be changed of the workspace. Opening hours are replaced as a whole: a day left out is closed."""

    name = CharField(max_length=LONGEST_NAME, example="Corner Salon")
    timezone = TimezoneField(help_text="IANA name, such as Europe/Berlin.", example="Europe/Berlin")
    business_type = ChoiceField(BusinessType.choices, allow_null=True, example=BusinessType.SALON_SPA.value)
    currency = ChoiceField(CURRENCIES, help_text="A code of ISO 4217.", example="EUR")
    opening_hours = OpeningHoursSerializer()
    address = CharField(
        blank_as_null=True, multiline=True, max_length=LONGEST_TEXT, example="1 High Street, 10115 Berlin"
    )
    website = CharField(blank_as_null=True, max_length=LONGEST_TEXT, example="https://corner-salon.example")
    phone = CharField(blank_as_null=True, max_length=LONGEST_PHONE, example="+49 30 1234567")


class CurrentWorkspaceViewSet(WorkspaceViewSet):
    """The workspace that the key belongs to."""

    @operation(operation_id="readWorkspace", summary="Read the workspace", answer=object_response(WorkspaceSerializer))
    def retrieve(self, request: Request) -> HttpResponse:
        return self.answer(WorkspaceSerializer(Workspace.objects.get(pk=self.workspace.pk)))

    @operation(
        operation_id="changeWorkspace",
        summary="Change the workspace; what is left out stays",
        request=WorkspaceChangesSerializer,
        answer=object_response(WorkspaceSerializer),
    )
    def partial_update(self, request: Request) -> HttpResponse:
        changes = self.validated(WorkspaceChangesSerializer, partial=True).changes
        changed = change_workspace(workspace=self.workspace, by=self.actor, **changes)
        return self.answer(WorkspaceSerializer(changed))


class ChannelViewSet(WorkspaceViewSet):
    """Numbers, Pages and accounts through which the workspace sends and receives."""

    lookup_url_kwarg = "channel"
    not_found = ChannelNotFound

    def get_queryset(self) -> "QuerySet[Channel]":
        return with_used_allowance(Channel.objects.filter(workspace=self.workspace))

    @operation(
        operation_id="listChannels", summary="List the channels", answer=page_response(WorkspaceChannelSerializer)
    )
    def list(self, request: Request) -> HttpResponse:
        return self.page_of(self.get_queryset().order_by("-connected_at", "-id"), WorkspaceChannelSerializer)

    @operation(operation_id="readChannel", summary="Read a channel", answer=object_response(WorkspaceChannelSerializer))
    def retrieve(self, request: Request, channel: UUID | None) -> HttpResponse:
        return self.answer(WorkspaceChannelSerializer(self.get_object()))


urlpatterns = [
    path(
        "workspace", CurrentWorkspaceViewSet.as_view({"get": "retrieve", "patch": "partial_update"}), name="workspace"
    ),
    path("channels", ChannelViewSet.as_view({"get": "list"}), name="channels-list"),
    path("channels/<id:channel>", ChannelViewSet.as_view({"get": "retrieve"}), name="channels-detail"),
]

"""The agency API: the base of all its views below `/api/agency/v1`, and the agency's plans and add-ons."""

from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.viewsets import ViewSetMixin

from agency.actors import Actor
from agency.limits import CHANNEL_TYPES
from agency.models import Addon, Agency, Plan, Switch
from agency.pages.branding import host_serves
from agency.request_actor import request_actor
from agency.services import (
    AddonLimitReached,
    AddonNotFound,
    PlanIsDefault,
    PlanLimitReached,
    PlanNotFound,
    archive_item,
    create_addon,
    create_plan,
    update_item,
)
from agency.services.agencies import switch_is_on
from agency.services.catalogue import MOST_ITEMS
from agency.services.keys import AGENCY_PREFIX, AgencyCaller, authenticate_agency_key
from config.api.fields import UNSET, BooleanField, IntegerField, UUIDField
from config.api.operations import list_response, object_response, operation
from config.api.requests import client_address
from config.api.serializers import Serializer
from config.api.surface import KeyLimitedSurface, KeyLookup
from config.api.text_fields import CharField
from config.api.throttling import RateLimit
from config.errors import FeatureDisabled, Forbidden


class SurfaceDisabled(FeatureDisabled):
    message = "The reseller API is currently disabled."


class AgencyNotActive(Forbidden):
    message = "This agency is not active."


class AgencySurface(KeyLimitedSurface[AgencyCaller]):
    """The caller is an agency; whatever a view looks up starts at `self.agency`."""

    surface = "agency"
    key_prefix = AGENCY_PREFIX
    switched_off = SurfaceDisabled

    def look_up(self, digest: bytes | None) -> KeyLookup[AgencyCaller]:
        request = self.request._request
        caller = None if digest is None else authenticate_agency_key(digest, address=client_address(request))
        if caller is None:
            return KeyLookup(switch_is_on(Switch.Name.AGENCY_API), None)
        is_here = host_serves(request, {caller.agency.pk})
        return KeyLookup(caller.surface_is_on, caller if is_here else None)

    def check_caller(self, caller: AgencyCaller) -> None:
        if not caller.agency.is_active:
            raise AgencyNotActive

    def key_limit(self, caller: AgencyCaller) -> RateLimit:
        return RateLimit(f"agency:key:{caller.key_id}", settings.AGENCY_KEY_LIMIT)

    @property
    def agency(self) -> Agency:
        return self.caller.agency

    @property
    def principal(self) -> str:
        """Whose idempotency keys these are: the agency's, whichever of its API keys is used."""
        return f"agency:{self.agency.pk}"

    @property
    def actor(self) -> Actor:
        caller = self.caller
        return request_actor(self.request._request, kind="agency_key", id=caller.key_uuid, label=caller.key_name)


class AgencyViewSet(ViewSetMixin, AgencySurface):
    """A set of views of the agency surface."""


INCLUDED = {"whatsapp", "facebook", "instagram"}
LONGEST_NAME = 120
LONGEST_DESCRIPTION = 500


class DescriptionField(CharField):
    """A text that null empties, as an empty text does."""

    def run_validation(self, data: object = UNSET) -> object:
        return super().run_validation("" if data is None else data)


def description(example: str) -> CharField:
    return DescriptionField(
        max_length=LONGEST_DESCRIPTION,
        required=False,
        allow_null=True,
        default="",
        allow_blank=True,
        multiline=True,
        example=example,
    )


def limit(example: int | None, missing: int | None) -> IntegerField:
    """A limit; where a creation leaves it out it is `missing`."""
    return IntegerField(
        allow_null=True, min_value=0, required=False, default=missing, help_text="Null means no limit.", example=example
    )


class ChannelLimitsSerializer(Serializer):
    """How many channels of each type."""

    missing: ClassVar[int | None] = None

    def get_fields(self) -> dict[str, Any]:
        return {name: limit(1 if name in INCLUDED else 0, self.missing) for name in CHANNEL_TYPES}


class AddedChannelLimitsSerializer(ChannelLimitsSerializer):
    """How many channels of each type an add-on adds."""

    missing = 0


class LimitsSerializer(Serializer):
    """What a plan allows; a new plan has no limit where one is left out."""

    contacts = limit(5000, None)
    team_members = limit(5, None)
    broadcasts_per_month = limit(None, None)
    channels = ChannelLimitsSerializer(required=False, default=lambda: dict.fromkeys(CHANNEL_TYPES))


class AddedLimitsSerializer(Serializer):
    """What an add-on adds to a plan's limits; a new one adds nothing where one is left out, null lifts the limit."""

    contacts = limit(0, 0)
    team_members = limit(0, 0)
    broadcasts_per_month = limit(0, 0)
    channels = AddedChannelLimitsSerializer(required=False, default=lambda: dict.fromkeys(CHANNEL_TYPES, 0))


class PlanReferenceSerializer(Serializer):
    """A plan by its id and name."""

    uuid = UUIDField(example="3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11")
    name = CharField(example="Growth")


class AddonReferenceSerializer(Serializer):
    """An add-on by its id and name."""

    uuid = UUIDField(example="b7c1b2de-0a65-4a40-8f0b-5f2a6d0c9e42")
    name = CharField(example="Extra WhatsApp number")


class PlanSerializer(PlanReferenceSerializer):
    """A base plan of the agency."""

    uuid = UUIDField(read_only=True, example="3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11")
    name = CharField(max_length=LONGEST_NAME, example="Studio")
    description = description("For growing teams.")
    limits = LimitsSerializer()


class AddonSerializer(AddonReferenceSerializer):
    """An add-on of the agency."""

    uuid = UUIDField(read_only=True, example="b7c1b2de-0a65-4a40-8f0b-5f2a6d0c9e42")
    name = CharField(max_length=LONGEST_NAME, example="Second number")
    description = description("One number more than the plan has.")
    limits = AddedLimitsSerializer()


class ArchivedSerializer(Serializer):
    """Confirmation."""

    archived = BooleanField(example=True)


class PlanViewSet(AgencyViewSet):
    """Base plans that can be assigned to sub-accounts; an archived one reads like one that is not there."""

    lookup_url_kwarg = "plan"
    not_found = PlanNotFound

    def get_queryset(self) -> "QuerySet[Plan]":
        return Plan.objects.filter(agency=self.agency, archived_at=None)

    @operation(operation_id="listPlans", summary="List the plans", answer=list_response(PlanSerializer))
    def list(self, request: Request) -> HttpResponse:
        plans = self.get_queryset().order_by("created_at", "id")[:MOST_ITEMS]
        return self.answer(PlanSerializer(plans, many=True))

    @operation(
        operation_id="createPlan",
        summary="Create a plan",
        request=PlanSerializer,
        status=201,
        answer=object_response(PlanSerializer),
        errors={403: PlanLimitReached.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = self.validated(PlanSerializer).validated_data
        return self.answer(PlanSerializer(create_plan(agency=self.agency, by=self.actor, **wanted)), status=201)

    @operation(operation_id="readPlan", summary="Read a plan", answer=object_response(PlanSerializer))
    def retrieve(self, request: Request, plan: UUID | None) -> HttpResponse:
        return self.answer(PlanSerializer(self.get_object()))

    @operation(
        operation_id="updatePlan",
        summary="Change a plan; no sub-account changes until it is assigned again",
        request=PlanSerializer,
        answer=object_response(PlanSerializer),
    )
    def partial_update(self, request: Request, plan: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(PlanSerializer, partial=True).changes
        return self.answer(PlanSerializer(update_item(item=found, by=self.actor, **changes)))

    @operation(
        operation_id="archivePlan",
        summary="Archive a plan; sub-accounts that have it keep it",
        answer=object_response(ArchivedSerializer),
        errors={409: PlanIsDefault.message},
    )
    def destroy(self, request: Request, plan: UUID | None) -> HttpResponse:
        archive_item(item=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(ArchivedSerializer({"archived": True}))


class AddonViewSet(AgencyViewSet):
    """Add-ons that can be granted to sub-accounts; an archived one reads like one that is not there."""

    lookup_url_kwarg = "addon"
    not_found = AddonNotFound

    def get_queryset(self) -> "QuerySet[Addon]":
        return Addon.objects.filter(agency=self.agency, archived_at=None)

    @operation(operation_id="listAddons", summary="List the add-ons", answer=list_response(AddonSerializer))
    def list(self, request: Request) -> HttpResponse:
        addons = self.get_queryset().order_by("created_at", "id")[:MOST_ITEMS]
        return self.answer(AddonSerializer(addons, many=True))

    @operation(
        operation_id="createAddon",
        summary="Create an add-on",
        request=AddonSerializer,
        status=201,
        answer=object_response(AddonSerializer),
        errors={403: AddonLimitReached.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = self.validated(AddonSerializer).validated_data
        return self.answer(AddonSerializer(create_addon(agency=self.agency, by=self.actor, **wanted)), status=201)

    @operation(operation_id="readAddon", summary="Read an add-on", answer=object_response(AddonSerializer))
    def retrieve(self, request: Request, addon: UUID | None) -> HttpResponse:
        return self.answer(AddonSerializer(self.get_object()))

    @operation(
        operation_id="updateAddon",
        summary="Change an add-on; no sub-account changes until it is granted again",
        request=AddonSerializer,
        answer=object_response(AddonSerializer),
    )
    def partial_update(self, request: Request, addon: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(AddonSerializer, partial=True).changes
        return self.answer(AddonSerializer(update_item(item=found, by=self.actor, **changes)))

    @operation(
        operation_id="archiveAddon",
        summary="Archive an add-on; sub-accounts that hold it keep it",
        answer=object_response(ArchivedSerializer),
    )
    def destroy(self, request: Request, addon: UUID | None) -> HttpResponse:
        archive_item(item=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(ArchivedSerializer({"archived": True}))


urlpatterns = [
    path("plans", PlanViewSet.as_view({"get": "list", "post": "create"}), name="plans-list"),
    path("addons", AddonViewSet.as_view({"get": "list", "post": "create"}), name="addons-list"),
    path(
        "plans/<id:plan>",
        PlanViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="plans-detail",
    ),
    path(
        "addons/<id:addon>",
        AddonViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="addons-detail",
    ),
]

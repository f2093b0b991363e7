"""API views of an agency's packs, of the library, and of the visibility of the service's own packs."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from agency.api import AgencyViewSet
from config.api.operations import ResponseSpec, list_response, object_response, operation
from config.api.responses import json_response
from packs.api.agency.serializers import (
    LibraryItemSerializer,
    OrderSerializer,
    PackChangesSerializer,
    PackDeletedSerializer,
    PackListMetaSerializer,
    PackOrderSerializer,
    PackSerializer,
    PackVisibilitySerializer,
)
from packs.library import library
from packs.models import Pack
from packs.models.entries import MOST_ENTRIES
from packs.services import (
    change_pack,
    create_pack,
    order_packs,
    packs_of,
    remove_pack,
    replaces_platform,
    set_replace_platform,
    view_pack,
)
from packs.services.errors import NothingToPublish, PackNotFound, TooManyPacks


class PackViewSet(AgencyViewSet):
    """The agency's packs, in the order of its customers' gallery."""

    lookup_url_kwarg = "pack"
    not_found = PackNotFound

    def get_queryset(self) -> "QuerySet[Pack]":
        return Pack.objects.of(self.agency)

    @operation(
        operation_id="listPacks",
        summary="List the packs in gallery order",
        answer=list_response(PackSerializer, meta=PackListMetaSerializer),
    )
    def list(self, request: Request) -> HttpResponse:
        meta = {"replace_platform": replaces_platform(self.agency.pk), "max_entries": MOST_ENTRIES}
        return self.answer(PackSerializer(packs_of(self.agency), many=True), meta=PackListMetaSerializer(meta))

    @operation(
        operation_id="createPack",
        summary="Create a pack; it is a draft and comes last",
        request=PackSerializer,
        status=201,
        answer=object_response(PackSerializer),
        errors={409: TooManyPacks.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        pack = create_pack(agency=self.agency, by=self.actor, **self.validated(PackSerializer).validated_data)
        return self.answer(PackSerializer(view_pack(pack)), status=201)

    @operation(operation_id="readPack", summary="Read a pack", answer=object_response(PackSerializer))
    def retrieve(self, request: Request, pack: UUID | None) -> HttpResponse:
        return self.answer(PackSerializer(view_pack(self.get_object())))

    @operation(
        operation_id="updatePack",
        summary="Change a pack; publish, unpublish or archive it",
        request=PackChangesSerializer,
        answer=object_response(PackSerializer),
        errors={422: f"A field was refused; on `status`: {NothingToPublish.message}"},
    )
    def partial_update(self, request: Request, pack: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(PackChangesSerializer, partial=True).changes
        return self.answer(PackSerializer(view_pack(change_pack(pack=found, by=self.actor, **changes))))

    @operation(
        operation_id="removePack",
        summary="Remove a pack from every gallery; what customers have added stays",
        answer=object_response(PackDeletedSerializer),
    )
    def destroy(self, request: Request, pack: UUID | None) -> HttpResponse:
        remove_pack(pack=self.get_object(), by=self.actor)
        return self.answer(PackDeletedSerializer({"deleted": True}))

    @operation(
        operation_id="orderPacks",
        summary="Put packs first in the gallery; those left out keep their place after them",
        request=OrderSerializer,
        answer=ResponseSpec(schema=PackOrderSerializer, example=PackOrderSerializer.example()),
    )
    def order(self, request: Request) -> HttpResponse:
        order = self.validated(OrderSerializer).validated_data["order"]
        ordered = order_packs(agency=self.agency, order=order, by=self.actor)
        return json_response(PackOrderSerializer({"data": ordered}).data)


class LibraryViewSet(AgencyViewSet):
    """The service's own automations."""

    @operation(
        operation_id="listLibrary",
        summary="List the automations of the library",
        answer=list_response(LibraryItemSerializer),
    )
    def list(self, request: Request) -> HttpResponse:
        return self.answer(LibraryItemSerializer(library().items.values(), many=True))


class VisibilityViewSet(AgencyViewSet):
    """Whether customers see the service's own packs after the agency's."""

    @operation(
        operation_id="readPackVisibility",
        summary="Read whether the agency's packs replace the service's own",
        answer=object_response(PackVisibilitySerializer),
    )
    def retrieve(self, request: Request) -> HttpResponse:
        return self.answer(PackVisibilitySerializer({"replace_platform": replaces_platform(self.agency.pk)}))

    @operation(
        operation_id="setPackVisibility",
        summary="Let the agency's packs replace the service's own, once one is published",
        request=PackVisibilitySerializer,
        answer=object_response(PackVisibilitySerializer),
    )
    def update(self, request: Request) -> HttpResponse:
        wanted = self.validated(PackVisibilitySerializer).validated_data
        return self.answer(PackVisibilitySerializer(set_replace_platform(agency=self.agency, **wanted, by=self.actor)))

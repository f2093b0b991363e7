"""The agency API about packs and their automations, the library, and copies out of sub-accounts."""

from dataclasses import asdict
from functools import cached_property
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from agency.api import AgencyViewSet
from config.api.operations import ResponseSpec, list_response, object_response, operation
from config.api.requests import parse_uuid
from config.api.responses import json_response
from config.errors import Forbidden, InvalidInput
from packs.api.serializers import (
    ImportPreviewSerializer,
    ImportSourceSerializer,
    LibraryItemSerializer,
    NewPackEntrySerializer,
    OrderSerializer,
    PackChangesSerializer,
    PackDeletedSerializer,
    PackEntryChangesSerializer,
    PackEntryDeletedSerializer,
    PackEntrySerializer,
    PackListMetaSerializer,
    PackOrderSerializer,
    PackSerializer,
    PackVisibilitySerializer,
)
from packs.library import library
from packs.models import MOST_ENTRIES, Pack, PackEntry
from packs.services import (
    add_library_entry,
    change_entry,
    change_pack,
    copy_automation,
    create_pack,
    find_source_automation,
    has_replace_setting,
    list_import_sources,
    order_entries,
    order_packs,
    packs_of,
    preview_copy,
    read_entry_view,
    read_pack_view,
    remove_entry,
    remove_pack,
    set_replace_platform,
)
from packs.services.errors import EntryNotFound, NothingToPublish, PackNotFound, TooManyPacks


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
        meta = {"replace_platform": has_replace_setting(self.agency.pk), "max_entries": MOST_ENTRIES}
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
        return self.answer(PackSerializer(read_pack_view(pack)), status=201)

    @operation(operation_id="readPack", summary="Read a pack", answer=object_response(PackSerializer))
    def retrieve(self, request: Request, pack: UUID | None) -> HttpResponse:
        return self.answer(PackSerializer(read_pack_view(self.get_object())))

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
        return self.answer(PackSerializer(read_pack_view(change_pack(pack=found, by=self.actor, **changes))))

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
        return self.answer(PackVisibilitySerializer({"replace_platform": has_replace_setting(self.agency.pk)}))

    @operation(
        operation_id="setPackVisibility",
        summary="Let the agency's packs replace the service's own, once one is published",
        request=PackVisibilitySerializer,
        answer=object_response(PackVisibilitySerializer),
    )
    def update(self, request: Request) -> HttpResponse:
        wanted = self.validated(PackVisibilitySerializer).validated_data
        return self.answer(PackVisibilitySerializer(set_replace_platform(agency=self.agency, **wanted, by=self.actor)))


class CannotCopy(Forbidden):
    message = "This API key cannot copy automations out of sub-accounts."


class CopyingViewSet(AgencyViewSet):
    """A set of views of which some need the ability to copy."""

    def require_copying(self) -> None:
        """Refuse a key without the copy ability; called before anything is looked up."""
        if not self.caller.can_copy:
            raise CannotCopy


class PackEntryViewSet(CopyingViewSet):
    """What a pack is made of."""

    lookup_url_kwarg = "entry"
    not_found = EntryNotFound

    @cached_property
    def pack(self) -> Pack:
        """The pack that the path names. Raises `PackNotFound`."""
        return self.find(Pack.objects.of(self.agency), self.kwargs["pack"], missing=PackNotFound)

    def get_queryset(self) -> "QuerySet[PackEntry]":
        entries: QuerySet[PackEntry] = self.pack.entries.defer("flow").select_related("pack")
        return entries

    @operation(
        operation_id="addPackEntry",
        summary="Add an automation of the library, or a copy of a sub-account's published one",
        request=NewPackEntrySerializer,
        request_example={"template_id": "salons-booking-assistant"},
        status=201,
        answer=object_response(PackEntrySerializer),
        errors={403: CannotCopy.message, 404: "No such pack; for a copy: no such sub-account, or no such automation."},
        idempotent=True,
    )
    def create(self, request: Request, pack: UUID | None) -> HttpResponse:
        is_copy = NewPackEntrySerializer(data=request.data).is_copy
        if is_copy:
            self.require_copying()
        found = self.pack
        sent = self.validated(NewPackEntrySerializer).validated_data
        if is_copy:
            automation = find_source_automation(
                agency=self.agency, workspace=sent["workspace"], automation=sent["automation"]
            )
            entry = copy_automation(pack=found, automation=automation, by=self.actor)
        else:
            entry = add_library_entry(pack=found, template_id=sent["template_id"], by=self.actor)
        return self.answer(PackEntrySerializer(read_entry_view(entry)), status=201)

    @operation(
        operation_id="updatePackEntry",
        summary="Change an automation of a pack, for later installs",
        request=PackEntryChangesSerializer,
        answer=object_response(PackEntrySerializer),
    )
    def partial_update(self, request: Request, pack: UUID | None, entry: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(PackEntryChangesSerializer, partial=True).changes
        return self.answer(PackEntrySerializer(read_entry_view(change_entry(entry=found, by=self.actor, **changes))))

    @operation(
        operation_id="removePackEntry",
        summary="Take an automation out of a pack; a published pack without any becomes a draft",
        answer=object_response(PackEntryDeletedSerializer),
    )
    def destroy(self, request: Request, pack: UUID | None, entry: UUID | None) -> HttpResponse:
        removal = remove_entry(entry=self.get_object(), by=self.actor)
        return self.answer(PackEntryDeletedSerializer({"deleted": True, **asdict(removal)}))

    @operation(
        operation_id="orderPackEntries",
        summary="Put automations first in a pack; those left out keep their place after them",
        request=OrderSerializer,
        answer=object_response(PackSerializer),
    )
    def order(self, request: Request, pack: UUID | None) -> HttpResponse:
        found = self.pack
        order = self.validated(OrderSerializer).validated_data["order"]
        return self.answer(PackSerializer(read_pack_view(order_entries(pack=found, order=order, by=self.actor))))


# Every call about copies first requires the copy ability.


class ParametersMissing(InvalidInput):
    """Required parameters of the preview were not sent."""

    def __init__(self, names: list[str]) -> None:
        sentences = {name: [f"The {name} parameter is required."] for name in names}
        super().__init__(sentences[names[0]][0])
        self.errors = sentences


class ImportViewSet(CopyingViewSet):
    """What can be copied, and what a copy would be."""

    @operation(
        operation_id="listImportSources",
        summary="List the sub-accounts with published automations",
        answer=list_response(ImportSourceSerializer),
        errors={403: CannotCopy.message},
    )
    def sources(self, request: Request) -> HttpResponse:
        self.require_copying()
        return self.answer(ImportSourceSerializer(list_import_sources(agency=self.agency), many=True))

    @operation(
        operation_id="previewImport",
        summary="Say what a copy would be; nothing is saved",
        answer=object_response(ImportPreviewSerializer),
        query=(
            OpenApiParameter("workspace", OpenApiTypes.UUID, required=True, description="The sub-account's uuid."),
            OpenApiParameter("automation", OpenApiTypes.UUID, required=True, description="The automation's uuid."),
        ),
        errors={
            403: CannotCopy.message,
            404: "No such sub-account, or no such automation.",
            422: "A required parameter was not sent.",
        },
    )
    def preview(self, request: Request) -> HttpResponse:
        self.require_copying()
        names = ("workspace", "automation")
        missing = [name for name in names if not self.parameters.plain(name).strip()]
        if missing:
            raise ParametersMissing(missing)
        workspace, automation = (self._uuid(name) for name in names)
        found = find_source_automation(agency=self.agency, workspace=workspace, automation=automation)
        return self.answer(ImportPreviewSerializer(preview_copy(automation=found)))

    def _uuid(self, name: str) -> UUID | None:
        """A malformed id reads like an unknown one."""
        return parse_uuid(self.parameters.plain(name).strip())


urlpatterns = [
    path("packs", PackViewSet.as_view({"get": "list", "post": "create"}), name="packs-list"),
    path("packs/visibility", VisibilityViewSet.as_view({"get": "retrieve", "put": "update"}), name="packs-visibility"),
    path("packs/order", PackViewSet.as_view({"put": "order"}), name="packs-order"),
    path("packs/library", LibraryViewSet.as_view({"get": "list"}), name="packs-library-list"),
    path("packs/import/preview", ImportViewSet.as_view({"get": "preview"}), name="packs-import-preview"),
    path("packs/import/sources", ImportViewSet.as_view({"get": "sources"}), name="packs-import-sources"),
    path(
        "packs/<id:pack>",
        PackViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="packs-detail",
    ),
    path("packs/<id:pack>/entries", PackEntryViewSet.as_view({"post": "create"}), name="packs-entries-list"),
    path("packs/<id:pack>/entries/order", PackEntryViewSet.as_view({"put": "order"}), name="packs-entries-order"),
    path(
        "packs/<id:pack>/entries/<id:entry>",
        PackEntryViewSet.as_view({"patch": "partial_update", "delete": "destroy"}),
        name="packs-entries-detail",
    ),
]

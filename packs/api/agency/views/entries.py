"""API views that add, copy, change, order and remove the automations of a pack."""

from dataclasses import asdict
from functools import cached_property
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from config.api.operations import object_response, operation
from packs.api.agency.serializers import (
    NewPackEntrySerializer,
    OrderSerializer,
    PackEntryChangesSerializer,
    PackEntryDeletedSerializer,
    PackEntrySerializer,
    PackSerializer,
)
from packs.api.agency.views.copying import CannotCopy, CopyingViewSet
from packs.models import Pack, PackEntry
from packs.services import (
    add_library_entry,
    change_entry,
    copy_automation,
    find_source,
    order_entries,
    remove_entry,
    view_entry,
    view_pack,
)
from packs.services.errors import EntryNotFound, PackNotFound


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
            automation = find_source(agency=self.agency, workspace=sent["workspace"], automation=sent["automation"])
            entry = copy_automation(pack=found, automation=automation, by=self.actor)
        else:
            entry = add_library_entry(pack=found, template_id=sent["template_id"], by=self.actor)
        return self.answer(PackEntrySerializer(view_entry(entry)), status=201)

    @operation(
        operation_id="updatePackEntry",
        summary="Change an automation of a pack, for later installs",
        request=PackEntryChangesSerializer,
        answer=object_response(PackEntrySerializer),
    )
    def partial_update(self, request: Request, pack: UUID | None, entry: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(PackEntryChangesSerializer, partial=True).changes
        return self.answer(PackEntrySerializer(view_entry(change_entry(entry=found, by=self.actor, **changes))))

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
        return self.answer(PackSerializer(view_pack(order_entries(pack=found, order=order, by=self.actor))))

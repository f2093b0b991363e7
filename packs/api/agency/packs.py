"""Packs: listed, created, changed, ordered, removed; the library; who else is in the gallery."""

from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from config.api.responses import json_answer
from config.api.schema import Documented, many, one
from packs.api.agency.representations import library_card, pack_card
from packs.api.agency.scoped import PackBaseViewSet
from packs.api.agency.shapes import (
    LibraryItemShape,
    PackDeleted,
    PackListAnswer,
    PackOrderAnswer,
    PackShape,
    VisibilityShape,
)
from packs.api.agency.words import NewPack, Order, PackChanges, Visibility
from packs.library import library
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
from packs.services.errors import NothingToPublish, TooManyPacks

NEW_EXAMPLE = {
    "name": "Salon starter",
    "summary": "Bookings, reminders and reviews.",
    "industry": "salons",
    "business_type": "salon_spa",
}
ORDER_EXAMPLE = {"order": ["3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11"]}


class PackViewSet(PackBaseViewSet):
    """The agency's packs, in the order of its customers' gallery."""

    @Documented(operation_id="listPacks", summary="List the packs in gallery order", answer=PackListAnswer)
    def list(self, request: Request) -> HttpResponse:
        meta = {"replace_platform": replaces_platform(self.agency.pk), "max_entries": MOST_ENTRIES}
        return json_answer({"data": [pack_card(view) for view in packs_of(self.agency)], "meta": meta})

    @Documented(
        operation_id="createPack",
        summary="Create a pack; it is a draft and comes last",
        body=NewPack,
        body_example=NEW_EXAMPLE,
        status=201,
        answer=one(PackShape),
        errors={409: TooManyPacks.message},
    )
    def create(self, request: Request) -> HttpResponse:
        pack = create_pack(agency=self.agency, by=self.actor, **self.words(NewPack).validated_data)
        return json_answer({"data": pack_card(view_pack(pack))}, status=201)

    @Documented(operation_id="readPack", summary="Read a pack", answer=one(PackShape))
    def retrieve(self, request: Request, pack: UUID | None) -> HttpResponse:
        return json_answer({"data": pack_card(view_pack(self.pack_of(pack)))})

    @Documented(
        operation_id="updatePack",
        summary="Change a pack; publish, unpublish or archive it",
        body=PackChanges,
        body_example={"status": "published"},
        answer=one(PackShape),
        errors={422: f"A field was refused; on `status`: {NothingToPublish.message}"},
    )
    def partial_update(self, request: Request, pack: UUID | None) -> HttpResponse:
        found = self.pack_of(pack)
        changes = self.words(PackChanges, partial=True).changes
        return json_answer({"data": pack_card(view_pack(change_pack(pack=found, by=self.actor, **changes)))})

    @Documented(
        operation_id="removePack",
        summary="Remove a pack from every gallery; what customers have added stays",
        answer=one(PackDeleted),
    )
    def destroy(self, request: Request, pack: UUID | None) -> HttpResponse:
        remove_pack(pack=self.pack_of(pack), by=self.actor)
        return json_answer({"data": {"deleted": True}})

    @Documented(
        operation_id="orderPacks",
        summary="Put packs first in the gallery; those left out keep their place after them",
        body=Order,
        body_example=ORDER_EXAMPLE,
        answer=PackOrderAnswer,
    )
    def order(self, request: Request) -> HttpResponse:
        order = self.words(Order).validated_data["order"]
        return json_answer({"data": order_packs(agency=self.agency, order=order, by=self.actor)})


class LibraryViewSet(PackBaseViewSet):
    """The service's own automations."""

    @Documented(
        operation_id="listLibrary", summary="List the automations of the library", answer=many(LibraryItemShape)
    )
    def list(self, request: Request) -> HttpResponse:
        return json_answer({"data": [library_card(item) for item in library().items.values()]})


class VisibilityViewSet(PackBaseViewSet):
    """Whether customers see the service's own packs after the agency's."""

    @Documented(
        operation_id="readPackVisibility",
        summary="Read whether the agency's packs replace the service's own",
        answer=one(VisibilityShape),
    )
    def retrieve(self, request: Request) -> HttpResponse:
        return json_answer({"data": {"replace_platform": replaces_platform(self.agency.pk)}})

    @Documented(
        operation_id="setPackVisibility",
        summary="Let the agency's packs replace the service's own, once one is published",
        body=Visibility,
        body_example={"replace_platform": True},
        answer=one(VisibilityShape),
    )
    def update(self, request: Request) -> HttpResponse:
        wanted = self.words(Visibility).validated_data["replace_platform"]
        settings = set_replace_platform(agency=self.agency, replace_platform=wanted, by=self.actor)
        return json_answer({"data": {"replace_platform": settings.replace_platform}})

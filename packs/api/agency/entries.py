"""The automations of a pack: added from the library or copied, changed, ordered, removed."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from config.api.responses import json_answer
from config.api.schema import Documented, one
from config.errors import Invalid
from packs.api.agency.representations import entry_card, pack_card
from packs.api.agency.scoped import CannotCopy, PackBaseViewSet
from packs.api.agency.shapes import EXAMPLE_ITEM, EntryDeleted, PackEntryShape, PackShape
from packs.api.agency.words import CopyChoice, EntryChanges, LibraryChoice, NewEntry, Order
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

LIBRARY = {"template_id"}
COPY = {"workspace", "automation"}


class OneFormWanted(Invalid):
    """What is to be added is not said, or said twice."""

    field = "template_id"
    message = "Send either template_id, or workspace and automation."


class PackEntryViewSet(PackBaseViewSet):
    """What a pack is made of."""

    @Documented(
        operation_id="addPackEntry",
        summary="Add an automation of the library, or a copy of a sub-account's published one",
        body=NewEntry,
        body_example={"template_id": EXAMPLE_ITEM},
        status=201,
        answer=one(PackEntryShape),
        errors={403: CannotCopy.message, 404: "No such pack; for a copy: no such sub-account, or no such automation."},
    )
    def create(self, request: Request, pack: UUID | None) -> HttpResponse:
        sent = self._sent()
        if sent == COPY:
            self.require_copying()
        found = self.pack_of(pack)
        if sent == COPY:
            entry = self._copied(found)
        elif sent == LIBRARY:
            entry = self._from_library(found)
        else:
            raise OneFormWanted
        return json_answer({"data": entry_card(view_entry(entry))}, status=201)

    def _sent(self) -> set[str]:
        body: dict[str, Any] = dict(self.request.data)
        return {name for name in LIBRARY | COPY if body.get(name) is not None}

    def _from_library(self, pack: Pack) -> PackEntry:
        template_id = self.words(LibraryChoice).validated_data["template_id"]
        return add_library_entry(pack=pack, template_id=template_id, by=self.actor)

    def _copied(self, pack: Pack) -> PackEntry:
        source: dict[str, Any] = self.words(CopyChoice).validated_data
        automation = find_source(agency=self.agency, **source)
        return copy_automation(pack=pack, automation=automation, by=self.actor)

    @Documented(
        operation_id="updatePackEntry",
        summary="Change an automation of a pack, for later installs",
        body=EntryChanges,
        body_example={"name": "Book a visit", "tier": "optional", "requires": ["service", "availability"]},
        answer=one(PackEntryShape),
    )
    def partial_update(self, request: Request, pack: UUID | None, entry: UUID | None) -> HttpResponse:
        found = self.entry_of(pack, entry)
        changes = self.words(EntryChanges, partial=True).changes
        changed = change_entry(entry=found, by=self.actor, **changes)
        return json_answer({"data": entry_card(view_entry(changed))})

    @Documented(
        operation_id="removePackEntry",
        summary="Take an automation out of a pack; a published pack without any becomes a draft",
        answer=one(EntryDeleted),
    )
    def destroy(self, request: Request, pack: UUID | None, entry: UUID | None) -> HttpResponse:
        removal = remove_entry(entry=self.entry_of(pack, entry), by=self.actor)
        data = {"deleted": True, "pack_status": removal.pack_status, "unpublished": removal.unpublished}
        return json_answer({"data": data})

    @Documented(
        operation_id="orderPackEntries",
        summary="Put automations first in a pack; those left out keep their place after them",
        body=Order,
        body_example={"order": ["3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11"]},
        answer=one(PackShape),
    )
    def order(self, request: Request, pack: UUID | None) -> HttpResponse:
        found = self.pack_of(pack)
        order = self.words(Order).validated_data["order"]
        return json_answer({"data": pack_card(view_pack(order_entries(pack=found, order=order, by=self.actor)))})

"""Contacts and segments of the workspace."""

from typing import Final
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from config.api.operations import object_response, operation, page_response
from config.api.serializers import DeletedSerializer
from workspaces.contacts.models import Contact, Segment
from workspaces.contacts.models.contacts import newest_page, newest_page_with_tag
from workspaces.contacts.serializers import (
    ContactChangesSerializer,
    ContactFilterSet,
    ContactSerializer,
    ImportResultSerializer,
    ImportSerializer,
    MergeSerializer,
    NewContactSerializer,
    SegmentSerializer,
    only_tag,
)
from workspaces.contacts.services import (
    ContactNotFound,
    SegmentNotFound,
    attach_size,
    attach_sizes,
    count_contacts,
    count_with_tag,
    create_contact,
    create_segment,
    import_contacts_of_a_call,
    merge_contacts,
    remove_contact,
    remove_segment,
    update_contact,
    update_segment,
)
from workspaces.contacts.services.listing import newest_keys
from workspaces.subaccounts.api.surface import WorkspaceViewSet

# Up to so many found contacts are put in order by us, so that the database does not walk through all contacts for them.
MOST_SORTED: Final = 10_000


class ContactViewSet(WorkspaceViewSet):
    """People whom the workspace writes to."""

    lookup_url_kwarg = "contact"
    not_found = ContactNotFound

    def get_queryset(self) -> "QuerySet[Contact]":
        return Contact.objects.of(self.workspace)

    @operation(
        operation_id="listContacts",
        summary="List the contacts, newest first",
        answer=page_response(ContactSerializer),
        filters=ContactFilterSet,
    )
    def list(self, request: Request) -> HttpResponse:
        tag = only_tag(self.parameters)
        if tag is not None:
            shown = newest_page_with_tag(self.workspace, tag, self.page.offset, self.page.size)
            return self.paged(ContactSerializer(shown, many=True), count_with_tag(self.workspace, tag))
        found = self.filtered(self.get_queryset())
        total = found.count() if self.is_filtered else count_contacts(self.workspace)
        if not total:
            keys: list[int] | None = []
        else:
            keys = newest_keys(found, MOST_SORTED) if self.is_filtered and total <= MOST_SORTED else None
        if keys is None:
            shown = newest_page(found, self.page.offset, self.page.size)
        else:
            shown = Contact.objects.with_keys(keys[self.page.offset : self.page.offset + self.page.size])
        return self.paged(ContactSerializer(shown, many=True), total)

    @operation(
        operation_id="createContact",
        summary="Create a contact",
        request=NewContactSerializer,
        status=201,
        answer=object_response(ContactSerializer),
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = self.validated(NewContactSerializer).validated_data
        made = create_contact(workspace=self.workspace, now=timezone.now(), **wanted)
        return self.answer(ContactSerializer(made), status=201)

    @operation(operation_id="readContact", summary="Read a contact", answer=object_response(ContactSerializer))
    def retrieve(self, request: Request, contact: UUID | None) -> HttpResponse:
        return self.answer(ContactSerializer(self.get_object()))

    @operation(
        operation_id="changeContact",
        summary="Change a contact; what is left out stays",
        request=ContactChangesSerializer,
        answer=object_response(ContactSerializer),
    )
    def partial_update(self, request: Request, contact: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(ContactChangesSerializer, partial=True).changes
        changed = update_contact(contact=found, now=timezone.now(), by=self.actor, **changes)
        return self.answer(ContactSerializer(changed))

    @operation(operation_id="deleteContact", summary="Delete a contact", answer=object_response(DeletedSerializer))
    def destroy(self, request: Request, contact: UUID | None) -> HttpResponse:
        remove_contact(contact=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))


class ContactMergeViewSet(WorkspaceViewSet):
    """Two contacts that are one person."""

    lookup_url_kwarg = "contact"
    not_found = ContactNotFound

    def get_queryset(self) -> "QuerySet[Contact]":
        return Contact.objects.of(self.workspace)

    @operation(
        operation_id="mergeContacts",
        summary="Merge another contact into this one",
        request=MergeSerializer,
        answer=object_response(ContactSerializer),
        idempotent=True,
    )
    def create(self, request: Request, contact: UUID | None) -> HttpResponse:
        kept = self.get_object()
        other = self.validated(MergeSerializer).validated_data["contact"]
        merged = merge_contacts(contact=kept, other=other, now=timezone.now(), by=self.actor)
        return self.answer(ContactSerializer(merged))


class ContactImportViewSet(WorkspaceViewSet):
    """Contacts by the thousand."""

    @operation(
        operation_id="importContacts",
        summary="Make or change up to 1,000 contacts",
        request=ImportSerializer,
        answer=object_response(ImportResultSerializer),
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        rows = self.validated(ImportSerializer).validated_data["contacts"]
        result = import_contacts_of_a_call(workspace=self.workspace, rows=rows, now=timezone.now(), by=self.actor)
        return self.answer(ImportResultSerializer(result))


class SegmentViewSet(WorkspaceViewSet):
    """Saved filters over the contacts."""

    lookup_url_kwarg = "segment"
    not_found = SegmentNotFound

    def get_queryset(self) -> "QuerySet[Segment]":
        return Segment.objects.of(self.workspace).select_related("workspace")

    @operation(
        operation_id="listSegments", summary="List the segments, newest first", answer=page_response(SegmentSerializer)
    )
    def list(self, request: Request) -> HttpResponse:
        rows, page = self.get_queryset(), self.page
        shown = attach_sizes(self.workspace, rows.order_by("-created_at", "-id")[page.offset : page.offset + page.size])
        return self.paged(SegmentSerializer(shown, many=True), rows.count())

    @operation(
        operation_id="createSegment",
        summary="Create a segment",
        request=SegmentSerializer,
        status=201,
        answer=object_response(SegmentSerializer),
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = self.validated(SegmentSerializer).validated_data
        made = create_segment(workspace=self.workspace, now=timezone.now(), by=self.actor, **wanted)
        return self.answer(SegmentSerializer(attach_size(made)), status=201)

    @operation(operation_id="readSegment", summary="Read a segment", answer=object_response(SegmentSerializer))
    def retrieve(self, request: Request, segment: UUID | None) -> HttpResponse:
        return self.answer(SegmentSerializer(attach_size(self.get_object())))

    @operation(
        operation_id="changeSegment",
        summary="Change a segment; a filter is replaced as a whole",
        request=SegmentSerializer,
        answer=object_response(SegmentSerializer),
    )
    def partial_update(self, request: Request, segment: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(SegmentSerializer, partial=True).changes
        changed = update_segment(segment=found, now=timezone.now(), by=self.actor, **changes)
        return self.answer(SegmentSerializer(attach_size(changed)))

    @operation(
        operation_id="deleteSegment",
        summary="Delete a segment; its contacts stay",
        answer=object_response(DeletedSerializer),
        errors={409: "A broadcast is still to go to the segment."},
    )
    def destroy(self, request: Request, segment: UUID | None) -> HttpResponse:
        remove_segment(segment=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))


urlpatterns = [
    path("contacts", ContactViewSet.as_view({"get": "list", "post": "create"}), name="contacts-list"),
    path("segments", SegmentViewSet.as_view({"get": "list", "post": "create"}), name="segments-list"),
    path("contacts/import", ContactImportViewSet.as_view({"post": "create"}), name="contacts-import-list"),
    path(
        "contacts/<id:contact>",
        ContactViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="contacts-detail",
    ),
    path(
        "segments/<id:segment>",
        SegmentViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="segments-detail",
    ),
    path("contacts/<id:contact>/merge", ContactMergeViewSet.as_view({"post": "create"}), name="contacts-merge-list"),
]

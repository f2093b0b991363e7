"""Files: uploaded, listed, read, removed."""

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from config.api.errors import TooLarge
from config.api.operations import object_response, operation, page_response
from config.api.parsers import Upload
from config.api.serializers import DeletedSerializer
from workspaces.media.api.workspace.serializers import MediaSerializer, MediaUploadSerializer
from workspaces.media.api.workspace.uploads import UPLOAD
from workspaces.media.models import Media, MediaQuerySet
from workspaces.media.services import (
    FileTooLarge,
    MediaInUse,
    MediaNotFound,
    StorageAway,
    StoredFile,
    add_media,
    measured_file,
    remove_media,
    store_measured_file,
)
from workspaces.subaccounts.api.surface import WorkspaceViewSet


def store_upload(view: "MediaViewSet") -> None:
    """Put the file into the storage, before the transaction that keeps it."""
    upload: Upload = view.validated(MediaUploadSerializer).validated_data["file"]
    try:
        measured = measured_file(upload.file, upload.filename, size=upload.size, sha256=upload.sha256)
    except FileTooLarge as error:
        raise TooLarge(error.message) from error
    view.stored = store_measured_file(workspace=view.workspace, measured=measured, now=timezone.now())


class MediaViewSet(WorkspaceViewSet):
    """Files that the workspace keeps: uploaded here, or received in messages."""

    lookup_url_kwarg = "media"
    not_found = MediaNotFound
    stored: StoredFile

    def get_queryset(self) -> MediaQuerySet:
        return Media.objects.of(self.workspace).with_agency()

    @operation(operation_id="listMedia", summary="List the files, newest first", answer=page_response(MediaSerializer))
    def list(self, request: Request) -> HttpResponse:
        return self.page_of(self.get_queryset().newest_first(), MediaSerializer)

    @operation(
        operation_id="uploadMedia",
        summary="Upload a file, as multipart/form-data",
        request=MediaUploadSerializer,
        upload=UPLOAD,
        status=201,
        answer=object_response(MediaSerializer),
        errors={
            413: "The file is larger than one of its type may be: 16 MiB, or 100 MiB for documents.",
            415: "The body is not multipart/form-data.",
            503: StorageAway.message,
        },
        idempotent=True,
        prepare=store_upload,
    )
    def create(self, request: Request) -> HttpResponse:
        media = add_media(workspace=self.workspace, stored=self.stored, now=timezone.now())
        return self.answer(MediaSerializer(media), status=201)

    @operation(
        operation_id="readMedia", summary="Read what is known of a file", answer=object_response(MediaSerializer)
    )
    def retrieve(self, request: Request, media: UUID | None) -> HttpResponse:
        return self.answer(MediaSerializer(self.get_object()))

    @operation(
        operation_id="removeMedia",
        summary="Remove a file, unless a message to be sent, a scheduled broadcast or an automation needs it",
        answer=object_response(DeletedSerializer),
        errors={409: MediaInUse.message},
    )
    def destroy(self, request: Request, media: UUID | None) -> HttpResponse:
        remove_media(media=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))

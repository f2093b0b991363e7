"""The workspace API about files: uploaded, listed, read, removed."""

from uuid import UUID

from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from config.api.errors import TooLarge
from config.api.fields import DateTimeField, IntegerField, UploadField, URLField, UUIDField
from config.api.operations import object_response, operation, page_response
from config.api.parsers import Upload, UploadRule
from config.api.serializers import DeletedSerializer, Serializer
from config.api.text_fields import CharField
from config.request_bodies import BodyRule
from workspaces.media.models import Media, MediaQuerySet
from workspaces.media.services import (
    FileTooLarge,
    MediaInUse,
    MediaNotFound,
    StorageUnavailable,
    StoredFile,
    add_media,
    inspect_file,
    remove_media,
    store_inspected_file,
)
from workspaces.media.services.content_types import MOST_DOCUMENT_BYTES
from workspaces.subaccounts.api.surface import WorkspaceViewSet

TOKEN = "uBqmT1mD0b5mZ0fV6W2xkqJc3m8y9QeR7tYhLpN4sAE"  # noqa: S105  # an example


class MediaSerializer(Serializer):
    """A file. Everybody who has its `url` can read it, without a key."""

    id = UUIDField(source="uuid", example="3f0f9a52-77a1-4b0e-9d0e-0e3b7f1c2d4a")
    url = URLField(example=f"https://app.example.com/media/{TOKEN}/price-list.pdf")
    filename = CharField(example="price-list.pdf")
    content_type = CharField(
        help_text="Told by the content; `application/octet-stream` where that is not known.", example="application/pdf"
    )
    size = IntegerField(help_text="In bytes.", example=48_213)
    created_at = DateTimeField()


class MediaUploadSerializer(Serializer):
    """A file: a picture, a sound or a film of at most 16 MiB, or another file of at most 100 MiB."""

    file = UploadField()


UPLOAD = UploadRule("file", MOST_DOCUMENT_BYTES)
# Uploads wait on the disk until a thread has read them, so both their size and their number are limited.
UPLOAD_BODY = BodyRule(
    "/api/v1/media",
    most_bytes=UPLOAD.most_body_bytes,
    headers=(b"x-api-key", b"authorization"),
    view_refuses=True,
    most_at_once=16,
)


def store_upload(view: "MediaViewSet") -> None:
    """Put the file into the storage, before the transaction that keeps it."""
    upload: Upload = view.validated(MediaUploadSerializer).validated_data["file"]
    try:
        measured = inspect_file(upload.file, upload.filename, size=upload.size, sha256=upload.sha256)
    except FileTooLarge as error:
        raise TooLarge(error.message) from error
    view.stored = store_inspected_file(workspace=view.workspace, measured=measured, now=timezone.now())


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
            503: StorageUnavailable.message,
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


urlpatterns = [
    path("media", MediaViewSet.as_view({"get": "list", "post": "create"}), name="media-list"),
    path("media/<id:media>", MediaViewSet.as_view({"get": "retrieve", "delete": "destroy"}), name="media-detail"),
]

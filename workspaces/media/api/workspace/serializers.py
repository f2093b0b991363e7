"""Files of a workspace, as its API shows and takes them."""

from config.api.fields import DateTimeField, IntegerField, UploadField, URLField, UUIDField
from config.api.serializers import Serializer
from config.api.text_fields import CharField

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

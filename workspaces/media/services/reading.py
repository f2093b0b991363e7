"""Reading a file as a stream, in whole or in part."""

from config.errors import NotFound
from workspaces.media.models import Media
from workspaces.media.providers.storages import Part, media_storage
from workspaces.media.services.errors import StorageAway


class MediaGone(NotFound):
    """The row exists, but the storage has no such file."""

    message = "Media not found."


def open_media(media: Media, *, start: int = 0, length: int | None = None) -> Part:
    """Open a file, or `length` bytes of it. The caller closes it. Raises `MediaGone` and `StorageAway`."""
    storage = media_storage()
    try:
        return storage.open_part(media.storage_name, start, media.size - start if length is None else length)
    except FileNotFoundError as error:
        raise MediaGone from error
    except storage.faults as error:
        raise StorageAway from error


def read_media(media: Media) -> bytes:
    """Read a whole file. Raises `MediaGone`, and `StorageAway` even in the middle of the file."""
    with open_media(media) as part:
        try:
            return part.read()
        except media_storage().faults as error:
            raise StorageAway from error

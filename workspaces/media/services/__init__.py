"""Storing files (`store_media`), removing them (`remove_media`), and reading them (`open_media`, `read_media`)."""

from workspaces.media.services.content_types import is_shown_by_browsers
from workspaces.media.services.errors import (
    FileIsEmpty,
    FileRefused,
    FileTooLarge,
    MediaInUse,
    MediaNotFound,
    StorageAway,
)
from workspaces.media.services.measuring import MeasuredFile, measured_file
from workspaces.media.services.reading import MediaGone, open_media, read_media
from workspaces.media.services.removing import (
    MediaUse,
    media_uses,
    remove_media,
    remove_next_unused_file,
    remove_unneeded_media,
)
from workspaces.media.services.storing import StoredFile, add_media, store_file, store_measured_file, store_media

__all__ = [
    "FileIsEmpty",
    "FileRefused",
    "FileTooLarge",
    "MeasuredFile",
    "MediaGone",
    "MediaInUse",
    "MediaNotFound",
    "MediaUse",
    "StorageAway",
    "StoredFile",
    "add_media",
    "is_shown_by_browsers",
    "measured_file",
    "media_uses",
    "open_media",
    "read_media",
    "remove_media",
    "remove_next_unused_file",
    "remove_unneeded_media",
    "store_file",
    "store_measured_file",
    "store_media",
]

"""Storing files (`store_media`), removing them (`remove_media`), and reading them (`open_media`, `read_media`)."""

from workspaces.media.services.content_types import is_shown_by_browsers
from workspaces.media.services.errors import (
    FileIsEmpty,
    FileRefused,
    FileTooLarge,
    MediaInUse,
    MediaNotFound,
    StorageUnavailable,
)
from workspaces.media.services.files import (
    InspectedFile,
    MediaFileMissing,
    MediaUse,
    StoredFile,
    add_media,
    inspect_file,
    media_uses,
    open_media,
    read_media,
    remove_media,
    remove_next_unused_file,
    remove_unneeded_media,
    store_file,
    store_inspected_file,
    store_media,
)

__all__ = [
    "FileIsEmpty",
    "FileRefused",
    "FileTooLarge",
    "InspectedFile",
    "MediaFileMissing",
    "MediaInUse",
    "MediaNotFound",
    "MediaUse",
    "StorageUnavailable",
    "StoredFile",
    "add_media",
    "inspect_file",
    "is_shown_by_browsers",
    "media_uses",
    "open_media",
    "read_media",
    "remove_media",
    "remove_next_unused_file",
    "remove_unneeded_media",
    "store_file",
    "store_inspected_file",
    "store_media",
]

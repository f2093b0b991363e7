"""The errors of the services for files."""

from config.errors import Conflict, FeatureDisabled, InvalidInput, NotFound
from workspaces.media.services.content_types import MIB


class MediaNotFound(NotFound):
    message = "Media not found."


class FileRefused(InvalidInput):
    """A file is not accepted. The message says what is wrong with it."""

    field = "file"


class FileIsEmpty(FileRefused):
    message = "The file is empty."


class FileTooLarge(FileRefused):
    """The file has more bytes than a file of its type may have."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        super().__init__(f"A file of this type may have at most {most_bytes // MIB} MiB.")


class StorageUnavailable(FeatureDisabled):
    message = "Files cannot be stored at the moment. Try again later."


class MediaInUse(Conflict):
    """The file cannot be removed. The message says what needs it."""

    message = "This file is in use."

"""Why a file is refused."""

from config.errors import Conflict, Invalid, NotFound, Unavailable
from workspaces.media.services.content_types import MIB


class MediaNotFound(NotFound):
    message = "Media not found."


class FileRefused(Invalid):
    """The message says what is wrong with the file."""

    field = "file"


class FileIsEmpty(FileRefused):
    message = "The file is empty."


class FileTooLarge(FileRefused):
    """More bytes than a file of its type may have."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        super().__init__(f"A file of this type may have at most {most_bytes // MIB} MiB.")


class StorageAway(Unavailable):
    message = "Files cannot be stored at the moment. Try again later."


class MediaInUse(Conflict):
    """The message says what needs the file."""

    message = "This file is in use."
